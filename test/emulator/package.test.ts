import { archiveFiles } from '#infra/package/archive.ts';
import { repository } from '#infra/package/bundle.ts';
import { toZip } from '#infra/package/zip.ts';
import { deployArchive } from '../support/deployed/deployed-functions.ts';
import { createPackedProject, packedApp } from '../support/deployed/packed-project.ts';
import { missingTerraform } from '../support/tools/missing-tools.ts';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

/* The archive of `npm run package`, built and started as Google does it, with the variables that Terraform gives. */

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

const entrySchema = z.object({ severity: z.literal('INFO'), event: z.string() });

/** Whether a line is what metrics and alerts read, and of nothing that goes wrong. */
function isEntry(line: string): boolean {
  try {
    return entrySchema.safeParse(JSON.parse(line)).success;
  } catch {
    return false;
  }
}

describe.skipIf(missingTerraform().length > 0)('the functions as deployed', () => {
  let deployed: Awaited<ReturnType<typeof deployArchive>>;

  beforeAll(async () => {
    deployed = await deployArchive(toZip(await archiveFiles(repository(root))));
  });

  afterAll(() => deployed?.stop());

  test('the build keeps compiled code in the image', async () => {
    const { image } = deployed;
    expect(image.built).toContain('Both functions load');
    expect(await readdir(image.folder)).toEqual(
      expect.arrayContaining(['index.cjs.compiled', 'sdk.cjs.compiled']),
    );
  });

  test('the smoke check passes on the deployed functions', async () => {
    const RECAP_TOKEN = await deployed.idToken('smoke');

    const smoke = promisify(execFile)(
      process.execPath,
      ['infra/smoke/smoke.ts', '--url', deployed.chat.url],
      { cwd: root, env: { RECAP_TOKEN } },
    );
    const { stdout } = await smoke.catch((error: { stdout: string }) => error);

    const lines = stdout.trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('FAILED'))).toEqual([]);
    expect(lines.at(-1)).toMatch(/^ok {2}erase/);
  });

  test('every line that a deployed function logs has its event and severity, and none is a warning', async () => {
    const { chat, compaction } = deployed;
    await Promise.all(Array.from({ length: 20 }, () => fetch(`${chat.url}/v1/health`)));

    const lines = `${chat.output()}${compaction.output()}`.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => !isEntry(line))).toEqual([]);
  });

  test('a stack trace names the source file it comes from', async () => {
    const given = deployed.image.run(
      process.execPath,
      '--eval',
      `process.env.FUNCTION_TARGET = 'chat'; require('./main.cjs')`,
    );

    const { stderr } = await given.catch((error: { stderr: string }) => error);

    expect(stderr).toContain('GOOGLE_CLOUD_PROJECT');
    expect(stderr.length).toBeLessThan(4_000);
    expect(stderr).toMatch(/at parseConfig \(\S*functions\/src\/config\.ts:\d+:\d+\)/);
  });
});

test.skipIf(missingTerraform().length > 0)(
  'the archive that recap package makes of an app’s project is built as Google does it, passes recap smoke, and answers with the app’s own tool',
  { timeout: 240_000 },
  async () => {
    const project = await createPackedProject();
    onTestFinished(() => project.remove());
    await writeFile(join(project.folder, 'index.ts'), packedApp);
    await project.recap('package');
    const zip = await readFile(join(project.folder, 'dist/recap.zip'));
    const deployed = await deployArchive(zip);
    onTestFinished(() => deployed.stop());
    const token = await deployed.idToken('ada');

    const response = await fetch(`${deployed.chat.url}/v1/conversations/${randomUUID()}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        message: {
          id: randomUUID(),
          parts: [{ type: 'text', text: 'call weather {"place":"Bern"}' }],
        },
      }),
    });
    const smoke = await project.recap('smoke', '--url', deployed.chat.url, '--token', token);

    expect(await response.text()).toContain('Snow in Bern, ada');
    expect(smoke.stdout).not.toContain('FAILED');
    expect(smoke.stdout.trimEnd().split('\n').at(-1)).toMatch(/^ok {2}erase/);
  },
);
