# What an agent's harness has wherever it runs: in the system, in a user's session, in a container.
{
  lib,
  pkgs,
  schema,
  defaultPackage,
}:
{ name, config, ... }:
let
  inherit (lib) mkOption types;

  # Options of their own for what is set most: each is a key of `settings` under a Nix name.
  aliases = {
    workspace = [ "workspace" ];
    toolGroups = [ "tool_groups" ];
    tools = [ "tool" ];
    approval = [ "approval" ];
    sandbox = [ "sandbox" ];
    hooks = [ "hook" ];
    turn = [ "turn" ];
    admins = [
      "control"
      "admins"
    ];
  };

  fromAlias =
    option: path:
    let
      value = config.${option};
    in
    lib.mkIf (value != null) (lib.setAttrByPath path (schema.prune value));

  without = names: lib.mapAttrs (_: one: schema.prune (removeAttrs one names));
in
{
  options = lib.mapAttrs (_: schema.alias) aliases // {
    enable = lib.mkEnableOption "the harness of this agent" // {
      default = true;
      example = false;
    };

    package = mkOption {
      type = types.package;
      default = defaultPackage;
      defaultText = lib.literalExpression "config.services.harnessd.package";
      description = "The harnessd of this agent; it also checks the configuration when that is built.";
    };

    mcpServers = import ./servers.nix { inherit lib pkgs schema; };
    plugins = import ./plugins.nix { inherit lib schema; };

    credentials = mkOption {
      type = types.attrsOf (types.either types.str types.path);
      default = { };
      example = {
        github-token = "/run/secrets/github-token";
      };
      description = ''
        Secrets by name, each with the file that it is in: `LoadCredential=` of the daemon's unit. The name is what
        {option}`mcpServers.<name>.credentials` and `token_file` refer to. A file in the Nix store can be read by
        everybody and is refused.
      '';
    };

    path = mkOption {
      type = types.listOf types.package;
      default = [ ];
      example = lib.literalExpression "[ pkgs.git pkgs.cargo ]";
      description = ''
        Packages on the `PATH` of tasks, shell calls and MCP servers. Beside them there are bash, coreutils,
        findutils, grep and sed, and nothing else of the system.
      '';
    };

    settings = mkOption {
      type = types.submodule {
        freeformType = types.attrsOf schema.toml;
        options = schema.options [ ];
      };
      default = { };
      example = lib.literalExpression ''
        {
          trace = true;
          bash.unit.memory_max = "2G";
        }
      '';
      description = ''
        The configuration of the daemon, {file}`${name}.toml`, key by key as its own documentation names them. It is
        checked by `harnessd --check` when it is built.
      '';
    };
  };

  config.settings = lib.mkMerge (
    lib.mapAttrsToList fromAlias aliases
    ++ [
      {
        mcp = without [
          "preset"
          "package"
          "arguments"
        ] config.mcpServers;
        plugin = without [ "package" ] config.plugins;
      }
    ]
  );
}
