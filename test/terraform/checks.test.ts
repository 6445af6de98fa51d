import { describe, expect, test } from 'vitest';
import { missingTerraform } from '../support/tools.ts';
import { checkTerraform, terraformFolder, type CheckResult } from './check-terraform.ts';
import { startOfflineTerraform } from './offline/run-terraform.ts';
import { readProviderSchema, SCHEMA_FILE } from './offline/provider-schema.ts';
import { schemaText, slimSchema } from './offline/slim-schema.ts';
import { usedTypes } from './offline/used-types.ts';
import { readFileSync } from 'node:fs';

describe.skipIf(missingTerraform().length > 0)('terraform/', () => {
  test('is formatted, valid, and passes its tests', { timeout: 600_000 }, async () => {
    const terraform = await startOfflineTerraform();
    const results: CheckResult[] = [];
    try {
      for await (const result of checkTerraform(terraform, terraformFolder)) results.push(result);
    } finally {
      await terraform.stop();
    }

    const failed = results.filter(({ isPassed }) => !isPassed);
    expect(failed.map(({ name, output }) => `${name}: ${output}`)).toEqual([]);
    expect(results.map(({ name }) => name)).toContain('validate environments/prod');
  });

  test('is given the schema that the file holds, and the file is what its generator writes', async () => {
    const terraform = await startOfflineTerraform();
    let printed: string;
    try {
      await terraform.run(terraformFolder, 'init', '-backend=false', '-no-color');
      printed = (await terraform.run(terraformFolder, 'providers', 'schema', '-json')).output;
    } finally {
      await terraform.stop();
    }
    const version = readProviderSchema().provider_version;

    const slim = slimSchema(JSON.parse(printed), { version, ...usedTypes(terraformFolder) });

    // A line for each resource: their beginnings say which differ.
    const stored = readFileSync(SCHEMA_FILE, 'utf8').split('\n');
    const generated = schemaText(slim).split('\n');
    expect(
      generated.filter((line) => !stored.includes(line)).map((line) => line.slice(0, 60)),
    ).toEqual([]);
    expect(generated).toHaveLength(stored.length);
  });
});
