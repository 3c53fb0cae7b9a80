# `mcpServers.NAME`: `[mcp.NAME]` of the configuration, with the program from a package.
{
  lib,
  pkgs,
  schema,
}:
let
  inherit (lib) mkOption types;
  known = import ./known-servers.nix;

  server =
    { config, ... }:
    let
      preset = if config.preset == null then { } else known.${config.preset};
    in
    {
      freeformType = types.attrsOf schema.toml;
      options = schema.entryOptions "mcp" // {
        preset = mkOption {
          type = types.nullOr (types.enum (lib.attrNames known));
          default = null;
          example = "github";
          description = ''
            A public server whose package and arguments are known here:

            ${lib.concatStringsSep "\n" (
              lib.mapAttrsToList (
                name: one:
                "- `${name}`: `pkgs.${one.package}`"
                + lib.optionalString (one ? secret) "; its secret is the variable `${one.secret}`"
              ) known
            )}
          '';
        };
        package = mkOption {
          type = types.nullOr types.package;
          default = if preset ? package then pkgs.${preset.package} else null;
          defaultText = lib.literalMD "that of `preset`";
          description = "The package of the server; its main program is the default of `command`.";
        };
        arguments = mkOption {
          type = types.listOf types.str;
          default = preset.arguments or [ ];
          defaultText = lib.literalMD "those of `preset`";
          example = [ "stdio" ];
          description = "The arguments of the package's main program.";
        };
      };
      config.command = lib.mkIf (config.package != null) (
        lib.mkDefault ([ (lib.getExe config.package) ] ++ config.arguments)
      );
    };
in
mkOption {
  type = types.attrsOf (types.submodule server);
  default = { };
  example = lib.literalExpression ''
    {
      github = {
        preset = "github";
        credentials.GITHUB_PERSONAL_ACCESS_TOKEN = "github-token";
      };
      nixos.preset = "nixos";
      tickets.url = "https://tickets.example.org/mcp";
    }
  '';
  description = "MCP servers of the agent, each supervised as a unit: `[mcp.NAME]`.";
}
