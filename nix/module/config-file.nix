# The configuration as a file that `harnessd --check` has accepted. What is wrong stops the build, with
# file, line, column and the nearest right name.
{ lib, pkgs }:
{
  # The agent's name, its package and its settings without what is not set.
  name,
  package,
  settings,
  # The agent's home directory, which `~` stands for.
  home ? "/var/empty",
  # "system" or "user".
  mode ? "system",
  # The option to name when the check fails.
  option,
}:
let
  unchecked = (pkgs.formats.toml { }).generate "harnessd-${name}-unchecked.toml" settings;
  canCheck = pkgs.stdenv.buildPlatform.canExecute pkgs.stdenv.hostPlatform;
in
pkgs.runCommand "harnessd-${name}.toml"
  {
    inherit unchecked;
    preferLocalBuild = true;
    allowSubstitutes = false;
  }
  (
    lib.optionalString canCheck ''
      # The environment of the build is not the agent's.
      if ! env -i HOME=${lib.escapeShellArg home} PATH="$PATH" TMPDIR=/tmp \
        ${package}/bin/harnessd --check --offline --${mode} --agent ${name} --config "$unchecked"; then
        echo "error: ${option}.settings: the configuration above is refused" >&2
        exit 1
      fi
    ''
    + ''
      cp "$unchecked" "$out"
    ''
  )
