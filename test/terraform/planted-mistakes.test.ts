import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingTerraform } from '../support/tools/tools.ts';
import { careless } from './mistakes/careless.ts';
import { invalid } from './mistakes/invalid.ts';
import { plant, type Mistake } from './mistakes/plant.ts';
import { startOfflineTerraform, type OfflineTerraform } from './offline/run-terraform.ts';

/** Terraform breaks lines where they get long. */
const unbroken = (text: string) => text.replaceAll(/[\s│╷╵]+/g, ' ');

describe.skipIf(missingTerraform().length > 0)('a mistake', () => {
  let terraform: OfflineTerraform;
  const scratch: string[] = [];
  let tested: string;

  async function planted(mistakes: readonly Mistake[]): Promise<string> {
    const copy = await plant(mistakes);
    scratch.push(copy);
    return join(copy, 'terraform');
  }

  async function check(folder: string, ...args: string[]): Promise<string> {
    await terraform.run(folder, 'init', '-backend=false', '-no-color');
    const { status, output } = await terraform.run(folder, ...args, '-no-color');
    if (status === 0) throw new Error(`nothing was found: ${output}`);
    return unbroken(output);
  }

  // All at once: each fails an assertion of its own, and a run tells of all of them.
  beforeAll(async () => {
    terraform = await startOfflineTerraform();
    const folder = await planted(careless);
    tested = await check(folder, 'test', '-filter=tests/defaults.tftest.hcl');
  }, 300_000);

  afterAll(async () => {
    await terraform.stop();
    for (const folder of scratch) await rm(folder, { recursive: true, force: true });
  });

  test.each(invalid)('$mistake is not valid', async (mistake) => {
    const folder = await planted([mistake]);
    // Tests name the module again, which has it told of three times.
    await rm(join(folder, 'tests'), { recursive: true });

    expect(await check(folder, 'validate')).toContain(mistake.says);
  });

  test.each(careless)('$mistake fails a test', ({ says }) => {
    expect(tested).toContain(says);
  });
});
