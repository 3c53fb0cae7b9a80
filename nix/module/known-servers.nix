# Public MCP servers that nixpkgs has. `package` is an attribute of pkgs, `secret` the variable that a
# credential goes to.
{
  context7.package = "context7-mcp";
  github = {
    package = "github-mcp-server";
    arguments = [ "stdio" ];
    secret = "GITHUB_PERSONAL_ACCESS_TOKEN";
  };
  grafana = {
    package = "mcp-grafana";
    secret = "GRAFANA_SERVICE_ACCOUNT_TOKEN";
  };
  nixos.package = "mcp-nixos";
  playwright = {
    package = "playwright-mcp";
    arguments = [ "--headless" ];
  };
  terraform = {
    package = "terraform-mcp-server";
    arguments = [ "stdio" ];
  };
}
