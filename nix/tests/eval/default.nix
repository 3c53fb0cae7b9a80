# What the tests evaluate: the modules and the examples, with a real copy of nixpkgs' lib.
{
  # The directory of lib/default.nix.
  nixpkgsLib,
  # Where `make install` put harnessd.
  package,
}:
let
  lib = import nixpkgsLib;
  pkgs = import ./pkgs.nix { inherit lib package; };
  schema = import ../../module/schema.nix { inherit lib; };

  evaluate =
    stub: module: modules:
    lib.evalModules {
      modules = [
        (import stub { inherit lib pkgs; })
        module
      ]
      ++ modules;
    };
  nixos = evaluate ./nixos.nix ../../module;
  homeManager = evaluate ./home-manager.nix ../../home-manager.nix;

  # The messages of what does not hold, those of containers included.
  faults =
    config:
    map (one: one.message) (lib.filter (one: !one.assertion) config.assertions)
    ++ lib.concatLists (
      lib.mapAttrsToList (_: container: faults container.config) (config.containers or { })
    );

  ofSystem = config: {
    faults = faults config;
    files = lib.mapAttrs (_: file: file.source) config.environment.etc;
    units = config.systemd.text;
    users = lib.mapAttrs (_: user: { inherit (user) group home; }) config.users.users;
    containers = lib.mapAttrs (
      _: container:
      ofSystem container.config
      // {
        inherit (container) privateNetwork extraFlags;
        mounts = lib.mapAttrs (_: mount: mount.hostPath) container.bindMounts;
      }
    ) config.containers;
  };
  ofUser = config: {
    faults = faults config;
    files = lib.mapAttrs (
      _: file: if file.source == null then file.text else file.source
    ) config.xdg.configFile;
  };

  examples = lib.mapAttrs' (
    file: _:
    let
      path = ../../../examples/nixos + "/${file}";
      name = lib.removeSuffix ".nix" file;
    in
    lib.nameValuePair name (
      if lib.hasPrefix "home-manager" name then
        ofUser (homeManager [ path ]).config
      else
        ofSystem (nixos [ path ]).config
    )
  ) (builtins.readDir ../../../examples/nixos);

  refusals = import ./refusals.nix { inherit lib pkgs; };

  # Keys of the schema that are no option: none, unless the translation forgets some.
  settingsOptions = (lib.evalModules { modules = [ { options = schema.options [ ]; } ]; }).options;
  names = map (option: option.loc) (lib.optionAttrSetToDocList settingsOptions);
in
{
  inherit examples;
  variants = lib.mapAttrs (_: module: ofSystem (nixos [ module ]).config) (
    import ./variants.nix { inherit pkgs; }
  );
  flake = import ./flake.nix { inherit lib pkgs; };

  # NAME -> what the evaluation of a wrong configuration says, in `faults` where it is not an error.
  refused = lib.mapAttrs (_: case: ofSystem (nixos [ case.module ]).config) refusals;
  messages = lib.mapAttrs (_: case: case.message) refusals;

  # Every option below `settings`, by its keys; an entry of a table of tables is `<name>`.
  options = names;

  page = import ../../options-doc.nix { inherit lib; } {
    nixos = (nixos [ ]).options;
    homeManager = (homeManager [ ]).options;
  };
}
