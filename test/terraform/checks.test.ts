import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { missingTerraform } from '../support/tools/missing-tools.ts';
import { checkTerraform, terraformFolder } from './check-terraform.ts';
import { makeResources } from './made-resources.ts';
import { providerNames, schemaFile } from './offline/provider-schema.ts';
import { copyModule } from './real-terraform.ts';
import { startOfflineTerraform } from './offline/offline-terraform.ts';
import { schemaText } from './offline/slim-schema.ts';
import type { Terraform } from './run-terraform.ts';
import { lackingIn } from './taken-as-valid.ts';

/** A place in a file, and what stands there instead. */
type Mistake = readonly [file: string, from: string | RegExp, to: string];

const invalid: Mistake[] = [
  ['pubsub.tf', 'message_retention_duration = local', 'retention_duration = local'],
  ['environments/prod/main.tf', 'source_archive    = var.source_archive\n', ''],
];

/** What `terraform validate` takes. */
const takenAsValid: Mistake[] = [
  ['functions.tf', '[time_sleep.rights]', '[time_sleep.apis]'],
  ['logging.tf', 'depends_on = [time_sleep.apis]', ''],
  ['monitoring.tf', '[time_sleep.metrics]', '[google_logging_metric.distribution]'],
  ['protection.tf', '    google_firestore_index.composite,\n', ''],
];

/** In resources that the tests of the module do not look at so closely. */
const careless: Mistake[] = [
  ['pubsub.tf', /  retry_policy \{[^}]*\}\n/, ''],
  ['pubsub.tf', ' = local.dead_letters_kept', ' = "600s"\n  enable_message_ordering = true'],
];

describe.skipIf(missingTerraform().length > 0)('terraform/', () => {
  let terraform: Terraform;
  const copies: string[] = [];
  beforeAll(async () => {
    terraform = await startOfflineTerraform();
  });
  afterAll(async () => {
    await terraform.stop();
    for (const copy of copies) await rm(copy, { recursive: true, force: true });
  });

  /** A copy of terraform/ with all of these mistakes. */
  async function plant(mistakes: readonly Mistake[]): Promise<string> {
    const copy = await mkdtemp(join(tmpdir(), 'recap-mistakes-'));
    copies.push(copy);
    const folder = await copyModule(copy);
    for (const [file, from, to] of mistakes) {
      const path = join(folder, file);
      const text = await readFile(path, 'utf8');
      const changed = text.replace(from, () => to);
      if (changed === text) throw new Error(`${file} has no ${from}`);
      await writeFile(path, changed);
    }
    return folder;
  }

  /** What the check says of a folder, each on one line: Terraform breaks lines where they get long. */
  async function problemsIn(folder: string): Promise<string[]> {
    const problems: string[] = [];
    for await (const { name, isPassed, output } of checkTerraform(terraform, folder))
      if (!isPassed) problems.push(`${name}: ${output.replaceAll(/[\s│╷╵]+/g, ' ')}`);
    return problems;
  }

  test('is formatted and valid, in the order that Google needs', async () => {
    expect(await problemsIn(terraformFolder)).toEqual([]);
  });

  test('is given the schemas that the files hold, and the files are what their generator writes', async () => {
    const { output } = await terraform.run(terraformFolder, 'providers', 'schema', '-json');

    for (const provider of providerNames) {
      const stored = readFileSync(schemaFile(provider), 'utf8');
      const { provider_version: version } = z
        .object({ provider_version: z.string() })
        .parse(JSON.parse(stored));
      // A line for each resource: their beginnings say which differ.
      const lines = schemaText(JSON.parse(output), provider, version).split('\n');
      const changed = lines.filter((line) => !stored.split('\n').includes(line));

      expect(changed.map((line) => line.slice(0, 60))).toEqual([]);
      expect(lines).toHaveLength(stored.split('\n').length);
    }
  });

  test('that is not valid is refused, wherever it is', async () => {
    const problems = await problemsIn(await plant(invalid));

    expect(problems).toContainEqual(
      expect.stringMatching(/^validate: .*"retention_duration" is not expected here/),
    );
    expect(problems).toContainEqual(
      expect.stringMatching(/^validate environments\/prod: .*"source_archive" is required/),
    );
  });

  test('that makes a resource too early, or destroys it where a destroy is refused, is refused', async () => {
    const problems = await problemsIn(await plant(takenAsValid));
    const found = [
      ...problems.join().matchAll(/(\S+) does not (?:wait for|depend on) (\S+?)[:,]/g),
    ];

    expect(found.map(([, resource, awaited]) => [resource, awaited])).toEqual([
      ['google_cloudfunctions2_function.chat', 'time_sleep.rights'],
      ['google_logging_project_bucket_config.erasures', 'time_sleep.apis'],
      ['google_logging_project_sink.erasures', 'time_sleep.apis'],
      ['google_monitoring_slo.latency', 'time_sleep.metrics'],
      ['terraform_data.protection', 'google_firestore_index.composite'],
    ]);
  });

  test('that has a resource without what its type must have is refused', async () => {
    const folder = await plant(careless);
    const { problems, made } = await makeResources(
      terraform,
      folder,
      '-filter=tests/defaults.tftest.hcl',
    );

    expect(lackingIn([...made.values()].flat())).toEqual([
      'google_pubsub_subscription.compaction',
      'google_pubsub_subscription.compaction_dead',
    ]);
    // The tests of the module find neither.
    expect(problems).toEqual([]);
  });
});
