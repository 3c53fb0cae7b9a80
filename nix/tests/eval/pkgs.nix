# As much of nixpkgs as the modules and the examples touch. What is built is built for real, by this machine's
# own shell; packages are names only, but for harnessd.
{
  lib,
  # Where `make install` put harnessd.
  package,
}:
let
  storePath = name: "${builtins.storeDir}/${name}";

  fake = name: mainProgram: outPath: {
    type = "derivation";
    inherit name outPath;
    drvPath = outPath;
    meta = {
      inherit mainProgram;
    };
  };
  ofSystem = name: fake name name "/usr";
  ofStore = name: fake name name (storePath name);

  # A derivation with the arguments that it was made from.
  built =
    arguments:
    let
      name = arguments.name or "${arguments.pname}-${arguments.version}";
    in
    arguments // fake name (arguments.meta.mainProgram or name) (storePath name);

  # Every value of JSON is one of TOML when it is written inline, but null.
  inline =
    value:
    if lib.isAttrs value then
      "{ ${
        lib.concatStringsSep ", " (
          lib.mapAttrsToList (key: one: "${builtins.toJSON key} = ${inline one}") value
        )
      } }"
    else if lib.isList value then
      "[ ${lib.concatMapStringsSep ", " inline value} ]"
    else
      builtins.toJSON value;
  toTOML =
    value:
    lib.concatStrings (lib.mapAttrsToList (key: one: "${builtins.toJSON key} = ${inline one}\n") value);

  attributes =
    self:
    lib.genAttrs [
      "bash"
      "coreutils"
      "findutils"
      "gnugrep"
      "gnused"
      "systemd"
    ] ofSystem
    // lib.genAttrs [
      "cargo"
      "claude-code"
      "clippy"
      "codex"
      "context7-mcp"
      "gcc"
      "git"
      "github-mcp-server"
      "mcp-grafana"
      "mcp-nixos"
      "nixfmt"
      "nixfmt-tree"
      "nodejs"
      "playwright-mcp"
      "procps"
      "python3"
      "rust-analyzer"
      "rustfmt"
      "terraform-mcp-server"
    ] ofStore
    // {
      inherit lib;
      harnessd = fake "harnessd" "harnessd" package;
      callPackage = lib.callPackageWith self;
      path = throw "the stub has no nixpkgs";

      rustc.version = (lib.importTOML ../../../Cargo.toml).workspace.package.rust-version;
      rustPlatform.buildRustPackage = built;
      mkShell = arguments: built (arguments // { name = "shell"; });
      testers.runNixOSTest = built;
      stdenv = {
        mkDerivation = built;
        hostPlatform = {
          system = builtins.currentSystem;
          rust.cargoShortTarget = "target";
        };
        buildPlatform.canExecute = _: true;
      };

      runCommand =
        name: environment: script:
        derivation (
          removeAttrs environment [
            "preferLocalBuild"
            "allowSubstitutes"
          ]
          // {
            inherit name;
            system = builtins.currentSystem;
            builder = "/bin/sh";
            args = [
              "-euc"
              script
            ];
            PATH = "/usr/bin:/bin";
          }
        );

      writeText =
        name: text:
        self.runCommand name { inherit text; } ''
          printf %s "$text" >"$out"
        '';

      formats.toml = _: {
        generate = name: value: self.writeText name (toTOML value);
      };

      fetchgit = _: storePath "source";
      harnessdLib.buildPlugin = arguments: ofStore "harnessd-plugin-${arguments.name}";
    };
in
lib.makeExtensible attributes
