# Claude Code with three MCP servers. What changes something is asked about first: alice answers with
# `harnessctl --agent coder approvals --watch`, `approve` and `reject`. When a task has ended that nobody waited
# for, the daemon runs one turn of the agent.
{ lib, pkgs, ... }:
{
  services.harnessd.agents.coder = {
    workspace = "/srv/coder";
    admins = [ "alice" ];
    path = [
      pkgs.claude-code
      pkgs.git
      pkgs.cargo
      pkgs.gcc
    ];

    # Files that only root can read, as sops-nix and agenix make them.
    credentials.github-token = "/run/secrets/github-token";
    mcpServers = {
      github = {
        preset = "github";
        credentials.GITHUB_PERSONAL_ACCESS_TOKEN = "github-token";
      };
      nixos.preset = "nixos";
      browser = {
        preset = "playwright";
        load = "demand";
      };
    };

    approval = {
      mode = "normal";
      timeout_sec = "1h";
    };
    tools = {
      "github__*".mode = "ask";
      shell = {
        mode = "allowlist";
        allowlist = [
          "git status"
          "git diff *"
          "cargo *"
        ];
      };
    };

    sandbox = {
      filesystem = "workspace-write";
      hidden = [ "~/.ssh" ];
    };
    turn.command = [
      (lib.getExe pkgs.claude-code)
      "-p"
    ];
    resources = {
      MemoryMax = "16G";
      TasksMax = 4000;
    };
    settings.bash.unit.memory_max = "8G";
  };

  users.users.alice.isNormalUser = true;
}
