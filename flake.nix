{
  description = "harnessd: the tool harness of one AI agent";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs =
    { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      perSystem =
        make:
        lib.genAttrs systems (system: make (nixpkgs.legacyPackages.${system}.extend self.overlays.default));
    in
    {
      overlays.default = import ./nix/overlay.nix;

      packages = perSystem (
        pkgs:
        {
          default = pkgs.harnessd;
          inherit (pkgs) harnessd;
        }
        // pkgs.harnessdLib.shippedPlugins
      );

      # To build plugins: pkgs -> { buildPlugin, buildCPlugin }.
      lib.forPackages = pkgs: pkgs.callPackage ./nix/lib { };

      nixosModules.default = {
        imports = [ ./nix/module ];
        nixpkgs.overlays = [ self.overlays.default ];
      };

      # home-manager leaves `nixpkgs.overlays` to the system where it is part of one.
      homeManagerModules.default =
        { lib, pkgs, ... }:
        {
          imports = [ ./nix/home-manager.nix ];
          services.harnessd.package = lib.mkDefault (pkgs.extend self.overlays.default).harnessd;
        };

      apps = perSystem (pkgs: {
        default = {
          type = "app";
          program = lib.getExe pkgs.harnessd;
          meta.description = "The harness of the current directory, on its defaults";
        };
      });

      checks = perSystem (
        pkgs:
        {
          package = pkgs.harnessd;
          modules = pkgs.callPackage ./nix/tests/check.nix { };
        }
        // import ./nix/tests/vm {
          inherit lib pkgs;
          module = self.nixosModules.default;
        }
      );

      devShells = perSystem (pkgs: {
        default = pkgs.callPackage ./nix/shell.nix { };
      });

      formatter = perSystem (pkgs: pkgs.nixfmt-tree);
    };
}
