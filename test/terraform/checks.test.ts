import { describe, expect, test } from 'vitest';
import { missingTerraform } from '../support/tools/tools.ts';
import { checkTerraform, terraformFolder, type CheckResult } from './check-terraform.ts';
import { startOfflineTerraform } from './offline/run-terraform.ts';
import { providerNames, readProviderSchema, schemaFile } from './offline/provider-schema.ts';
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

  test('is given the schemas that the files hold, and the files are what their generator writes', async () => {
    const terraform = await startOfflineTerraform();
    let printed: unknown;
    try {
      await terraform.run(terraformFolder, 'init', '-backend=false', '-no-color');
      const { output } = await terraform.run(terraformFolder, 'providers', 'schema', '-json');
      printed = JSON.parse(output);
    } finally {
      await terraform.stop();
    }

    for (const provider of providerNames) {
      const { provider_version: version } = readProviderSchema(provider);
      const used = usedTypes(terraformFolder, provider);
      const slim = slimSchema(printed, { provider, version, ...used });

      // A line for each resource: their beginnings say which differ.
      const stored = readFileSync(schemaFile(provider), 'utf8').split('\n');
      const generated = schemaText(slim).split('\n');
      expect(
        generated.filter((line) => !stored.includes(line)).map((line) => line.slice(0, 60)),
      ).toEqual([]);
      expect(generated).toHaveLength(stored.length);
    }
  });
});
