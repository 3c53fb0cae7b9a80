# The options of home-manager that the module defines.
{ lib, pkgs }:
let
  inherit (lib) mkOption types;
  list = mkOption {
    type = types.listOf types.anything;
    default = [ ];
  };
in
{
  options = {
    assertions = list;
    home = {
      packages = list;
      homeDirectory = mkOption {
        type = types.str;
        default = "/home/alice";
      };
    };
    systemd.user = {
      packages = list;
      systemctlPath = mkOption {
        type = types.str;
        default = "/usr/bin/systemctl";
      };
    };
    xdg.configFile = mkOption {
      type = types.attrsOf (
        types.submodule {
          options = {
            source = mkOption {
              type = types.nullOr types.path;
              default = null;
            };
            text = mkOption {
              type = types.nullOr types.str;
              default = null;
            };
            onChange = mkOption {
              type = types.lines;
              default = "";
            };
          };
        }
      );
      default = { };
    };
  };
  config._module.args = { inherit pkgs; };
}
