import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { terraformFolder } from './check-terraform.ts';
import { providerAddress, type ProviderName } from './offline/provider-schema.ts';
import { dataFolder, runTerraform, type Terraform } from './run-terraform.ts';

/** Terraform with the providers that it found for itself, in the registry or a mirror. */
interface RealTerraform extends Terraform {
  /** A copy of terraform/, where Terraform may write its lock files. */
  folder: string;
  /** Of the providers. */
  versions: Readonly<Record<ProviderName, string>>;
}

const versionSchema = z.object({ provider_selections: z.record(z.string(), z.string()) });

/** Enough for `terraform plan` to ask nothing of Google: there is no state yet. */
const planning = {
  GOOGLE_OAUTH_ACCESS_TOKEN: 'none',
  TF_VAR_project_id: 'recap-check',
  TF_VAR_source_archive: join(terraformFolder, 'tests/source.zip'),
  TF_VAR_notification_emails: '["oncall@example.com"]',
  TF_VAR_domain: 'chat.example.com',
};

/** Copies what Terraform reads, and gives the copy of terraform/. */
export async function copyModule(to: string): Promise<string> {
  // What the owner of the clone has there already: providers, locks, a state.
  const isSource = (path: string) => !/\.terraform|\.tfstate|\.tfvars$/.test(path);
  for (const part of ['terraform', 'infra/firestore'])
    await cp(join(terraformFolder, '..', part), join(to, part), {
      recursive: true,
      filter: isSource,
    });
  return join(to, 'terraform');
}

/** What Terraform says first of its error. */
const firstError = (output: string): string =>
  /Error: ([^\n]*(?:\n+[^\n]+){0,3})/.exec(output)?.[1]?.replaceAll(/\s+/g, ' ') ?? output;

/** Terraform with the newest providers that `versions.tf` allows; where none can be had, why. */
export async function startRealTerraform(): Promise<RealTerraform | string> {
  const scratch = await mkdtemp(join(tmpdir(), 'recap-terraform-'));
  const folder = await copyModule(join(scratch, 'newest'));
  const first = runTerraform(scratch, planning);
  const { status, output } = await first(folder, 'init', '-backend=false', '-no-color');
  if (status !== 0) {
    await rm(scratch, { recursive: true, force: true });
    return firstError(output);
  }
  const { output: printed } = await first(folder, 'version', '-json');
  const { provider_selections: found } = versionSchema.parse(JSON.parse(printed));
  const versionOf = (name: ProviderName) => found[providerAddress(name)] ?? 'unknown';
  // What the first folder got serves the others: nothing is downloaded twice.
  const configuration = join(scratch, 'mirror.tfrc');
  const path = JSON.stringify(join(dataFolder(scratch, folder), 'providers'));
  await writeFile(
    configuration,
    `provider_installation {\n  filesystem_mirror {\n    path = ${path}\n  }\n}\n`,
  );
  return {
    folder,
    versions: { google: versionOf('google'), time: versionOf('time') },
    run: runTerraform(scratch, { ...planning, TF_CLI_CONFIG_FILE: configuration }),
    stop: () => rm(scratch, { recursive: true, force: true }),
  };
}

/** Plans what the configuration of a folder would make in an empty project: how many resources, or what went wrong. */
export async function planRoot(
  terraform: Terraform,
  path: string,
): Promise<{ resources: number } | { problem: string }> {
  // No bucket for the state.
  await writeFile(join(path, 'backend_override.tf'), 'terraform {\n  backend "local" {}\n}\n');
  await terraform.run(path, 'init', '-reconfigure', '-no-color');
  const { status, output } = await terraform.run(path, 'plan', '-input=false', '-no-color');
  const count = /^Plan: (\d+) to add, 0 to change, 0 to destroy/m.exec(output)?.[1];
  return status === 0 && count ? { resources: Number(count) } : { problem: output };
}
