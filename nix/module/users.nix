# The users that are made: one for each agent that has its own name's, and `harnessd` where a daemon has it.
{ lib }:
{ agents }:
let
  own = lib.filterAttrs (name: agent: agent.user == name) agents;
  needsDaemon = lib.any (agent: agent.daemonUser == "harnessd") (lib.attrValues agents);
in
{
  users =
    lib.mapAttrs (name: agent: {
      isSystemUser = true;
      group = lib.mkDefault (if agent.group == null then name else agent.group);
      home = lib.mkDefault "/var/lib/agents/${name}";
      createHome = true;
      useDefaultShell = true;
      description = lib.mkDefault "The agent ${name}";
    }) own
    // lib.optionalAttrs needsDaemon {
      harnessd = {
        isSystemUser = true;
        group = "harnessd";
        description = "Tool harness of AI agents";
      };
    };
  groups =
    lib.mapAttrs' (
      name: agent: lib.nameValuePair (if agent.group == null then name else agent.group) { }
    ) own
    // lib.optionalAttrs needsDaemon { harnessd = { }; };
}
