# The units of one agent: drop-ins for the templates that the package brings, and nothing of theirs again.
{ lib, pkgs }:
{
  name,
  agent,
  # The checked configuration.
  configFile,
  # The package whose unit templates are installed.
  unitsFrom,
  # The uid of `daemonUser`, where the agent has one.
  daemonUid ? null,
}:
let
  inherit (agent) settings;

  listens = (settings.control.listen or null) != null || settings.mcp_http != null;
  # The daemon is the client of a server with a URL.
  connects = lib.any (server: (server.url or null) != null) (lib.attrValues settings.mcp);

  # Everything else of the template's lock-down stays.
  network = lib.optionalAttrs (listens || connects) {
    PrivateNetwork = false;
    RestrictAddressFamilies = [
      "AF_INET"
      "AF_INET6"
    ];
    IPAddressAllow = if connects then "any" else "localhost";
  };

  ownPackage = program: arguments: {
    ExecStart = lib.mkIf (agent.package.outPath != unitsFrom.outPath) [
      ""
      "${agent.package}/bin/${program} ${arguments}"
    ];
  };

  hasDaemonUser = agent.daemonUser != null;

  # A dash in a slice's name is a step down in the tree of slices.
  slice = "harnessd-${lib.replaceStrings [ "-" ] [ "\\x2d" ] name}";

  dropIn = {
    overrideStrategy = "asDropin";
  };
in
{
  services = {
    "harnessd@${name}" = dropIn // {
      wantedBy = [ "multi-user.target" ];
      path = agent.path ++ [ pkgs.bash ];
      # A changed configuration is read again; anything else restarts the daemon, under which tasks run on.
      reloadTriggers = [ configFile ];
      stopIfChanged = false;
      serviceConfig = lib.mkMerge [
        network
        (ownPackage "harnessd" "--system --agent %i")
        {
          User = if hasDaemonUser then agent.daemonUser else agent.user;
          LoadCredential = lib.mkIf (agent.credentials != { }) (
            lib.mapAttrsToList (credential: file: "${credential}:${toString file}") agent.credentials
          );
        }
        (lib.mkIf (hasDaemonUser || agent.group != null) {
          Group = if agent.group == null then agent.user else agent.group;
        })
        (lib.mkIf hasDaemonUser { UMask = "0027"; })
      ];
    };

    "harness-keeper@${name}" = dropIn // {
      # It holds every task: a switch leaves it alone, and it is upgraded when it is next started.
      restartIfChanged = false;
      stopIfChanged = false;
      environment = lib.mkIf hasDaemonUser { KEEPER_ARGUMENTS = "--daemon-uid=${toString daemonUid}"; };
      serviceConfig = lib.mkMerge [
        (ownPackage "harness-keeper" "--runtime-dir %t/harness-keeper/%i --agent %i $KEEPER_ARGUMENTS")
        { User = agent.user; }
        (lib.mkIf (agent.group != null) { Group = agent.group; })
        (lib.mkIf (agent.resources != { }) { Slice = "${slice}.slice"; })
      ];
    };
  };

  sockets."harness-keeper@${name}" = dropIn // {
    socketConfig.SocketUser = if hasDaemonUser then agent.daemonUser else agent.user;
  };

  slices = lib.mkIf (agent.resources != { }) {
    ${slice} = {
      description = "Tasks of the agent ${name}";
      sliceConfig = agent.resources;
    };
  };
}
