# The options of NixOS that the module defines, with the types that they have there, as far as its
# definitions show. The units become text as in nixos/lib/systemd-lib.nix.
{ lib, pkgs }:
{ config, ... }:
let
  inherit (lib) mkOption types;
  any = mkOption {
    type = types.attrsOf types.anything;
    default = { };
  };
  list = mkOption {
    type = types.listOf types.anything;
    default = [ ];
  };
  value = types.oneOf [
    types.bool
    types.int
    types.str
  ];
  section = mkOption {
    type = types.attrsOf (types.either value (types.listOf value));
    default = { };
  };

  unit = {
    options = {
      overrideStrategy = mkOption {
        type = types.enum [
          "asDropinIfExists"
          "asDropin"
        ];
        default = "asDropinIfExists";
      };
      description = mkOption {
        type = types.str;
        default = "";
      };
      wantedBy = mkOption {
        type = types.listOf types.str;
        default = [ ];
      };
    };
  };

  service = {
    imports = [ unit ];
    options = {
      path = mkOption {
        type = types.listOf types.package;
        default = [ ];
      };
      environment = mkOption {
        type = types.attrsOf types.str;
        default = { };
      };
      reloadTriggers = mkOption {
        type = types.listOf types.package;
        default = [ ];
      };
      restartIfChanged = mkOption {
        type = types.bool;
        default = true;
      };
      stopIfChanged = mkOption {
        type = types.bool;
        default = true;
      };
      reloadIfChanged = mkOption {
        type = types.bool;
        default = false;
      };
      serviceConfig = section;
    };
    config.path = lib.mkAfter (
      with pkgs;
      [
        coreutils
        findutils
        gnugrep
        gnused
        systemd
      ]
    );
  };

  unitsOf =
    options:
    mkOption {
      type = types.attrsOf (
        types.submodule {
          imports = [ unit ];
          inherit options;
        }
      );
      default = { };
    };

  container.options = {
    autoStart = mkOption { type = types.bool; };
    privateNetwork = mkOption { type = types.bool; };
    extraFlags = mkOption { type = types.listOf types.str; };
    bindMounts = mkOption {
      type = types.attrsOf (
        types.submodule {
          options = {
            hostPath = mkOption { type = types.nullOr types.str; };
            isReadOnly = mkOption {
              type = types.bool;
              default = true;
            };
          };
        }
      );
    };
    config = mkOption {
      type = lib.mkOptionType {
        name = "toplevel NixOS config";
        merge =
          _: definitions:
          (lib.evalModules {
            modules = [ (import ./nixos.nix { inherit lib pkgs; }) ] ++ map (one: one.value) definitions;
          }).config;
      };
    };
  };
in
{
  options = {
    assertions = list;
    warnings = list;
    environment = {
      systemPackages = list;
      etc = mkOption {
        type = types.attrsOf (types.submodule { options.source = mkOption { type = types.path; }; });
        default = { };
      };
    };
    systemd = {
      packages = mkOption {
        type = types.listOf types.package;
        default = [ ];
      };
      services = mkOption {
        type = types.attrsOf (types.submodule service);
        default = { };
      };
      sockets = unitsOf { socketConfig = section; };
      slices = unitsOf { sliceConfig = section; };
      tmpfiles = {
        packages = list;
        settings = mkOption {
          type = types.attrsOf (types.attrsOf (types.attrsOf (types.attrsOf types.str)));
          default = { };
        };
      };
      # The file names below /etc/systemd/system, each with its text.
      text = mkOption { type = types.attrsOf types.str; };
    };
    users = {
      users = mkOption {
        type = types.attrsOf (
          types.submodule {
            freeformType = types.attrsOf types.anything;
            options = {
              uid = mkOption {
                type = types.nullOr types.int;
                default = null;
              };
              group = mkOption {
                type = types.str;
                default = "";
              };
              home = mkOption {
                type = types.str;
                default = "/var/empty";
              };
            };
          }
        );
        default = { };
      };
      groups = any;
    };
    containers = mkOption {
      type = types.attrsOf (types.submodule container);
      default = { };
    };
    system.stateVersion = mkOption {
      type = types.str;
      default = "26.05";
    };
  };

  config = {
    _module.args = { inherit pkgs; };
    systemd.text = import ./unit-text.nix { inherit lib; } config.systemd;
  };
}
