# What an agent's harness has in the system, and not in a user's session.
{ lib }:
{ name, ... }:
let
  inherit (lib) mkOption types;
in
{
  options = {
    user = mkOption {
      type = types.str;
      default = name;
      defaultText = lib.literalMD "the name of the agent";
      description = ''
        The agent's user: its tasks run as it, and it owns the workspace. A user of the agent's own name is made; any
        other one has to be there.
      '';
    };

    group = mkOption {
      type = types.nullOr types.str;
      default = null;
      description = "The group of tasks and of {file}`mcp.sock`; without one it is the user's own.";
    };

    daemonUser = mkOption {
      type = types.nullOr types.str;
      default = null;
      example = "harnessd";
      description = ''
        Another user for the daemon, so that the agent cannot even read its record. It needs a uid of its own in
        {option}`users.users`; the user `harnessd` is made when it is named here.
      '';
    };

    resources = mkOption {
      type = types.attrsOf (
        types.oneOf [
          types.int
          types.str
          types.bool
        ]
      );
      default = { };
      example = {
        MemoryMax = "8G";
        CPUQuota = "200%";
        TasksMax = 2000;
      };
      description = ''
        Limits of all tasks of the agent together, by their names in {manpage}`systemd.resource-control(5)`: of a slice
        of its own, or of its container. A keeper that runs is in the slice from its next start on.
      '';
    };

    container = {
      enable = lib.mkEnableOption "a NixOS container for the agent and its harness";

      privateNetwork = mkOption {
        type = types.bool;
        default = true;
        description = "Whether the container has no network but a loopback interface of its own.";
      };

      bindMounts = mkOption {
        type = types.attrsOf types.attrs;
        default = { };
        example = lib.literalExpression ''{ "/srv/models" = { hostPath = "/srv/models"; }; }'';
        description = "What the container sees beside the workspace and the sockets, as in {option}`containers.<name>.bindMounts`.";
      };

      config = mkOption {
        type = types.deferredModule;
        default = { };
        description = "More of the container's own NixOS configuration.";
      };
    };
  };
}
