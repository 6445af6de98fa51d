import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { endedByArguments } from '../../support/only-help.ts';
import { terraformFolder } from '../check-terraform.ts';
import { SCHEMA_FILE } from './provider-schema.ts';
import { schemaText, slimSchema } from './slim-schema.ts';
import { usedTypes } from './used-types.ts';

const help = `Usage: npm run terraform:schema

Writes google-provider-schema.json anew, of the newest provider that terraform/versions.tf allows. Needs
terraform and the registry of HashiCorp: it downloads the provider.

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
    const version = Object.values(versions.provider_selections)[0] ?? 'unknown';
    const schema = slimSchema(JSON.parse(run('providers', 'schema', '-json')), {
      version,
      ...usedTypes(terraformFolder),
    });
    writeFileSync(SCHEMA_FILE, schemaText(schema));
    console.log(`google ${version}: ${Object.keys(schema.resource_schemas).length} resources`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return 0;
}

process.exitCode = endedByArguments(help) ?? writeSchema();
