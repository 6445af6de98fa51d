import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { endedByArguments } from '#test/support/only-help.ts';
import { terraformFolder } from '../check-terraform.ts';
import { providerAddress, providerNames, schemaFile } from './provider-schema.ts';
import { schemaText } from './slim-schema.ts';

const help = `Usage: npm run terraform:schema

Writes the …-provider-schema.json anew, of the newest providers that terraform/versions.tf allows. Needs
terraform and the registry of HashiCorp: it downloads the providers.

  --help   this text

Exit code: 0 written; 1 not; 2 wrong arguments.`;

const versionSchema = z.object({
  provider_selections: z.record(z.string(), z.string()),
});

function writeSchema(): 0 {
  const scratch = mkdtempSync(join(tmpdir(), 'recap-schema-'));
  try {
    const run = (...args: string[]) =>
      execFileSync('terraform', args, {
        cwd: terraformFolder,
        env: { ...process.env, TF_DATA_DIR: scratch },
        encoding: 'utf8',
        maxBuffer: 1024 * 1024 * 1024,
      });
    run('init', '-backend=false', '-lockfile=readonly', '-no-color');
    const versions = versionSchema.parse(JSON.parse(run('version', '-json')));
    const printed: unknown = JSON.parse(run('providers', 'schema', '-json'));
    for (const provider of providerNames) {
      const version = versions.provider_selections[providerAddress(provider)] ?? 'unknown';
      writeFileSync(schemaFile(provider), schemaText(printed, provider, version));
      console.log(`${provider} ${version}`);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return 0;
}

process.exitCode = endedByArguments(help) ?? writeSchema();
