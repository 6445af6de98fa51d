import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingTerraform } from '../support/tools/missing-tools.ts';
import { terraformFolder } from './check-terraform.ts';
import { runTerraform, type Terraform } from './run-terraform.ts';

/** What the resource is told of a deployment. */
const variables = ['project_id', 'region', 'name', 'deletion_protection'];

/* Terraform's own provider makes it, so it can be made and destroyed here, without what it protects. */
describe.skipIf(missingTerraform().length > 0)('a protected deployment', () => {
  let folder: string;
  let run: Terraform['run'];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recap-protection-'));
    const text = await readFile(join(terraformFolder, 'protection.tf'), 'utf8');
    const alone = text.replace(/ {2}depends_on = \[[^\]]*\]\n/, '');
    const declared = variables.map((name) => `variable "${name}" {}\n`).join('');
    await writeFile(join(folder, 'main.tf'), `${declared}${alone}`);
    run = runTerraform(folder, { TF_CLI_CONFIG_FILE: '/dev/null' });
    await run(folder, 'init', '-no-color');
    await apply({});
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const withValues = (command: string, values: Record<string, string>) =>
    run(
      folder,
      command,
      '-auto-approve',
      '-no-color',
      ...Object.entries({
        project_id: 'recap-test',
        region: 'us-central1',
        name: 'recap',
        deletion_protection: 'true',
        ...values,
      }).map(([name, value]) => `-var=${name}=${value}`),
    );
  const apply = (values: Record<string, string>) => withValues('apply', values);
  const destroy = (values: Record<string, string>) => withValues('destroy', values);

  test('is neither destroyed nor made anew until an apply has turned protection off', async () => {
    const { status, output } = await destroy({});
    expect(status).toBe(1);
    expect(output).toContain('Nothing was destroyed: deletion_protection is on.');

    // A value that no apply has stored.
    expect(await destroy({ deletion_protection: 'false' })).toMatchObject({ status: 1 });
    expect(await apply({ project_id: 'recap-other' })).toMatchObject({ status: 1 });
    expect(await apply({ region: 'europe-west1' })).toMatchObject({ status: 1 });
    expect(await apply({ name: 'second' })).toMatchObject({ status: 1 });

    await apply({ deletion_protection: 'false' });
    expect(await destroy({ deletion_protection: 'false' })).toMatchObject({ status: 0 });
  });
});
