# Systems that differ in one thing, for what a switch between them does and which lock-down stays.
{ pkgs }:
let
  agent = settings: {
    services.harnessd.agents.coder = {
      workspace = "/srv/coder";
    }
    // settings;
  };
in
{
  plain = agent { };
  setting = agent { settings.trace = true; };
  credential = agent { credentials.token = "/run/secrets/token"; };
  package = agent {
    package = pkgs.harnessd // {
      outPath = "${builtins.storeDir}/harnessd-next";
    };
  };
  listens = agent {
    credentials.mcp-token = "/run/secrets/mcp-token";
    settings.mcp_http = {
      listen = "127.0.0.1:7718";
      token_file = "mcp-token";
    };
  };
  connects = agent { mcpServers.tickets.url = "https://tickets.example.org/mcp"; };
  limits = agent {
    resources.MemoryMax = "1G";
    group = "agents";
  };
  daemon-user = {
    imports = [ (agent { daemonUser = "harnessd"; }) ];
    users.users.harnessd.uid = 900;
  };
  # Only the daemon knows which tools there are.
  dead-tool = agent { tools.shel.mode = "ask"; };
  disabled = agent { enable = false; };
}
