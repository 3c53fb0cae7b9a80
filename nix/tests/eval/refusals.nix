# Wrong input, and what is said of it when the system is evaluated.
{ lib, pkgs }:
let
  agent = settings: {
    services.harnessd.agents.coder = {
      workspace = "/srv/coder";
    }
    // settings;
  };
  case = message: settings: {
    inherit message;
    module = agent settings;
  };
in
{
  unknown-key =
    case
      "services.harnessd.agents.coder.settings.bash: there is no key `max_task`; did you mean `max_tasks`?"
      {
        settings.bash.max_task = 5;
      };
  unknown-table =
    case "services.harnessd.agents.coder.settings: there is no key `sandbx`; did you mean `sandbox`?"
      {
        settings.sandbx.network = false;
      };
  unknown-key-of-a-rule = case "settings.tool.shell: there is no key `mod`; did you mean `mode`?" {
    tools.shell.mod = "ask";
  };
  unknown-key-of-a-hook = case "settings.hook: there is no key `comand`; did you mean `command`?" {
    hooks = [
      {
        event = "pre_call";
        command = [ "guard" ];
        comand = [ "guard" ];
      }
    ];
  };
  dead-tool-group =
    case
      "services.harnessd.agents.coder.toolGroups: there is no tool group `shel`; did you mean `shell`?"
      {
        toolGroups = [ "shel" ];
      };
  secret-in-the-store =
    case
      "services.harnessd.agents.coder.credentials.github-token: ${builtins.storeDir}/secret is in the Nix store"
      {
        credentials.github-token = "${builtins.storeDir}/secret";
      };
  secret-as-a-nix-path =
    case
      "credentials.github-token: ${toString ./refusals.nix} is a path of Nix's own, so that a copy of it is in the Nix store"
      {
        credentials.github-token = ./refusals.nix;
      };
  secret-in-a-variable =
    case
      "services.harnessd.agents.coder.mcpServers.github.environment.GITHUB_PERSONAL_ACCESS_TOKEN: it looks like a secret"
      {
        mcpServers.github = {
          preset = "github";
          environment.GITHUB_PERSONAL_ACCESS_TOKEN = "ghp_0123456789";
        };
      };
  token-in-the-store =
    case
      "services.harnessd.agents.coder.settings.mcp_http.token_file: ${builtins.storeDir}/token is in the Nix store"
      {
        settings.mcp_http = {
          listen = "127.0.0.1:7718";
          token_file = "${builtins.storeDir}/token";
        };
      };
  token-that-is-no-credential =
    case "mcp_http.token_file: there is no credential `mcp-tokn`; did you mean `mcp-token`?"
      {
        credentials.mcp-token = "/run/secrets/mcp-token";
        settings.mcp_http = {
          listen = "127.0.0.1:7718";
          token_file = "mcp-tokn";
        };
      };
  command-that-is-a-string =
    case
      "A definition for option `services.harnessd.agents.coder.mcpServers.github.command' is not of type `null or list of strings, a program and then each of its arguments by itself'"
      { mcpServers.github.command = "github-mcp-server stdio"; };
  command-in-one-word =
    case
      ''services.harnessd.agents.coder.mcpServers.github.command: the program "github-mcp-server stdio" has a space in its name: write each argument as a string of its own, [ "github-mcp-server" "stdio" ]''
      { mcpServers.github.command = [ "github-mcp-server stdio" ]; };
  turn-in-one-word =
    case ''services.harnessd.agents.coder.turn.command: the program "claude -p" has a space''
      {
        turn.command = [ "claude -p" ];
      };
  mode-typo = case "is not of type `null or one of \"off\", \"ask\", \"allowlist\", \"allow\"'" {
    tools.shell.mode = "allowed";
  };
  approval-mode-typo = case "is not of type `null or one of \"off\", \"normal\", \"protective\"'" {
    approval.mode = "strict";
  };
  server-without-a-command =
    case "services.harnessd.agents.coder.mcpServers.github: it has neither a command nor a url"
      {
        mcpServers.github.load = "demand";
      };
  server-with-both =
    case "services.harnessd.agents.coder.mcpServers.github: it has a url and a command"
      {
        mcpServers.github = {
          url = "https://example.org/mcp";
          package = pkgs.github-mcp-server;
        };
      };
  missing-credential =
    case
      "services.harnessd.agents.coder.mcpServers.github.credentials.GITHUB_PERSONAL_ACCESS_TOKEN: there is no credential `github-tokn`; did you mean `github-token`?"
      {
        credentials.github-token = "/run/secrets/github-token";
        mcpServers.github = {
          preset = "github";
          credentials.GITHUB_PERSONAL_ACCESS_TOKEN = "github-tokn";
        };
      };
  unknown-server = case "mcpServers.github.preset' is not of type `null or one of" {
    mcpServers.github.preset = "gihub";
  };
  no-workspace = {
    message = "services.harnessd.agents.coder.workspace: it is not set";
    module.services.harnessd.agents.coder = { };
  };
  two-agents-in-one-place = {
    message = "services.harnessd.agents.a and services.harnessd.agents.b have the same workspace and the same user";
    module.services.harnessd.agents = lib.genAttrs [ "a" "b" ] (_: {
      workspace = "/srv/coder";
      user = "coder";
    });
  };
  name-of-an-agent = {
    message = "services.harnessd.agents.My_Agent: the name of an agent has 1 to 32 characters of a-z, 0-9 and -";
    module.services.harnessd.agents.My_Agent.workspace = "/srv/coder";
  };
  daemon-user-without-a-number =
    case
      "services.harnessd.agents.coder.daemonUser: the keeper knows the daemon by its number: set users.users.harnessd.uid"
      {
        daemonUser = "harnessd";
      };
  container-without-numbers =
    case
      "services.harnessd.agents.coder.container: the user alice must have one number on both sides: set users.users.alice.uid"
      {
        admins = [ "alice" ];
        container.enable = true;
      };
}
