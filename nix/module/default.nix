# `services.harnessd`: harnesses of agents in a NixOS system.
{
  config,
  lib,
  pkgs,
  ...
}:
let
  cfg = config.services.harnessd;
  schema = import ./schema.nix { inherit lib; };
  faults = import ./faults.nix { inherit lib schema; };
  prefix = "services.harnessd.agents";

  enabled = lib.filterAttrs (_: agent: agent.enable) cfg.agents;
  contained = lib.filterAttrs (_: agent: agent.container.enable) enabled;
  here = lib.filterAttrs (_: agent: !agent.container.enable) enabled;

  userOf =
    agent: key: default:
    config.users.users.${agent.user}.${key} or default;
  homeOf = agent: userOf agent "home" "/var/empty";
  workspaceOf =
    agent:
    let
      given = toString agent.settings.workspace;
    in
    if given == "~" || lib.hasPrefix "~/" given then
      homeOf agent + lib.removePrefix "~" given
    else
      given;

  configFile =
    name: agent:
    import ./config-file.nix { inherit lib pkgs; } {
      inherit name;
      inherit (agent) package;
      settings = schema.prune agent.settings;
      home = homeOf agent;
      option = "${prefix}.${name}";
    };

  units = lib.mapAttrsToList (
    name: agent:
    import ./units.nix { inherit lib pkgs; } {
      inherit name agent;
      configFile = configFile name agent;
      unitsFrom = cfg.package;
      daemonUid = config.users.users.${agent.daemonUser}.uid or null;
    }
  ) here;

  fault = assertion: message: { inherit assertion message; };

  ofSystem =
    name: agent:
    let
      option = "${prefix}.${name}";
      uidOf = user: config.users.users.${user}.uid or null;
    in
    [
      (fault (agent.settings.workspace != null)
        "${option}.workspace: it is not set: name the directory the agent works in, as in \"/srv/${name}\""
      )
      (fault (agent.daemonUser == null || uidOf agent.daemonUser != null)
        "${option}.daemonUser: the keeper knows the daemon by its number: set users.users.${toString agent.daemonUser}.uid"
      )
    ]
    ++ lib.optionals agent.container.enable (
      map
        (
          user:
          fault (uidOf user != null)
            "${option}.container: the user ${user} must have one number on both sides: set users.users.${user}.uid"
        )
        (
          [ agent.user ]
          ++ (if agent.settings.control.admins == null then [ ] else agent.settings.control.admins)
        )
    );
in
{
  options.services.harnessd = {
    package = lib.mkOption {
      type = lib.types.package;
      default = pkgs.harnessd;
      defaultText = lib.literalExpression "pkgs.harnessd";
      description = "The harnessd of all agents that have none of their own; its unit files are the ones that are used.";
    };

    agents = lib.mkOption {
      type = lib.types.attrsOf (
        lib.types.submodule [
          (import ./agent.nix {
            inherit lib pkgs schema;
            defaultPackage = cfg.package;
          })
          (import ./nixos-options.nix { inherit lib; })
        ]
      );
      default = { };
      description = ''
        Agents, each with a harness of its own: `harnessd@NAME.service` and `harness-keeper@NAME.service`. None of them
        opens a port of the firewall.
      '';
    };
  };

  config = lib.mkIf (enabled != { }) {
    assertions =
      faults.assertions prefix enabled ++ lib.concatLists (lib.mapAttrsToList ofSystem enabled);

    environment.systemPackages = [ cfg.package ];
    environment.etc = lib.mapAttrs' (
      name: agent: lib.nameValuePair "harnessd/${name}.toml" { source = configFile name agent; }
    ) here;

    systemd.packages = lib.mkIf (here != { }) [ cfg.package ];
    systemd.tmpfiles.packages = [ cfg.package ];
    # What is there already keeps its owner and its mode.
    systemd.tmpfiles.settings."20-harnessd" = lib.mkMerge (
      lib.mapAttrsToList (name: agent: {
        ${workspaceOf agent}.d = {
          user = ":${agent.user}";
          group = ":${userOf agent "group" agent.user}";
          mode = ":0750";
        };
      }) enabled
      ++ lib.mapAttrsToList (name: _: { "/run/harnessd/${name}".d.mode = "0755"; }) contained
    );

    systemd.services = lib.mkMerge (
      map (unit: unit.services) units
      ++ lib.mapAttrsToList (name: agent: {
        # A switch inside; what is bound into it, and its network, change with its next start.
        "container@${name}" = {
          reloadIfChanged = true;
          serviceConfig = agent.resources;
        };
      }) contained
    );
    systemd.sockets = lib.mkMerge (map (unit: unit.sockets) units);
    systemd.slices = lib.mkMerge (map (unit: unit.slices) units);

    containers = lib.mapAttrs (
      name: agent:
      import ./container.nix
        {
          inherit lib schema;
          nixosModule = ./default.nix;
        }
        {
          inherit name agent;
          workspace = workspaceOf agent;
          host = config;
        }
    ) contained;

    users = import ./users.nix { inherit lib; } { agents = enabled; };
  };
}
