import { createTopic, createTopicAndPushSubscription } from '#infra/local/stack/pubsub-setup.ts';
import { archiveFiles } from '#infra/package/archive.ts';
import { repository } from '#infra/package/bundle.ts';
import { toZip } from '#infra/package/zip.ts';
import {
  firestoreEmulatorHost,
  pubsubEmulatorHost,
} from '#test/support/processes/emulator-environment.ts';
import {
  buildImage,
  type Image,
  type Instance,
  startInstance,
} from '../support/deployed/buildpack.ts';
import { startGoogleServices } from '../support/deployed/google-services.ts';
import {
  terraformFunctions,
  type TerraformFunction,
} from '../support/deployed/terraform-functions.ts';
import { missingTerraform } from '../support/tools/missing-tools.ts';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
  let image: Image;
  let functions: Awaited<ReturnType<typeof terraformFunctions>>;
  let google: Awaited<ReturnType<typeof startGoogleServices>>;
  let chat: Instance;
  let compaction: Instance;

  const start = (target: string, { environment, ...settings }: TerraformFunction) =>
    startInstance(image, {
      target,
      ...settings,
      environment: {
        ...environment,
        ...google.variables,
        NODE_OPTIONS: `${environment['NODE_OPTIONS'] ?? ''} --import ${google.redirect}`,
        FIRESTORE_EMULATOR_HOST: firestoreEmulatorHost(),
        PUBSUB_EMULATOR_HOST: pubsubEmulatorHost(),
      },
    });

  /** The topics, and a subscription by which the worker hears what chat publishes. */
  async function subscribe(): Promise<void> {
    const {
      GOOGLE_CLOUD_PROJECT: projectId = '',
      COMPACTION_TOPIC: topicId = '',
      EVENTS_TOPIC: eventsTopicId = '',
    } = functions.chat.environment;
    const place = { pubsubHost: pubsubEmulatorHost(), projectId };
    const { PUSH_AUDIENCE: audience = '', PUSH_SERVICE_ACCOUNT: email = '' } =
      functions.compaction.environment;
    await createTopic(place, eventsTopicId);
    await createTopicAndPushSubscription({
      ...place,
      topicId,
      subscriptionId: topicId,
      pushEndpoint: await google.signPushes(compaction.url, { audience, email }),
      ackDeadlineSeconds: 600,
      minBackoffSeconds: 1,
      maxBackoffSeconds: 1,
    });
  }

  beforeAll(async () => {
    [image, functions] = await Promise.all([
      archiveFiles(repository(root)).then((files) => buildImage(toZip(files))),
      terraformFunctions(),
    ]);
    google = await startGoogleServices(functions.chat.environment['UPLOADS_BUCKET'] ?? '');
    chat = await start('chat', functions.chat);
    compaction = await start('compaction', functions.compaction);
    await subscribe();
  });

  afterAll(async () => {
    await Promise.all([chat?.stop(), compaction?.stop()]);
    await google?.close();
    await image?.remove();
  });

  test('the build keeps compiled code in the image', async () => {
    expect(image.built).toContain('Both functions load');
    expect(await readdir(image.folder)).toEqual(
      expect.arrayContaining(['index.cjs.compiled', 'sdk.cjs.compiled']),
    );
  });

  test('the smoke check passes on the deployed functions', async () => {
    const { GOOGLE_CLOUD_PROJECT: project = '' } = functions.chat.environment;
    const RECAP_TOKEN = await google.idToken(project, 'smoke');

    const smoke = promisify(execFile)(
      process.execPath,
      ['infra/smoke/smoke.ts', '--url', chat.url],
      { cwd: root, env: { RECAP_TOKEN } },
    );
    const { stdout } = await smoke.catch((error: { stdout: string }) => error);

    const lines = stdout.trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('FAILED'))).toEqual([]);
    expect(lines.at(-1)).toMatch(/^ok {2}erase/);
  });

  test('every line that a deployed function logs has its event and severity, and none is a warning', async () => {
    await Promise.all(Array.from({ length: 20 }, () => fetch(`${chat.url}/v1/health`)));

    const lines = `${chat.output()}${compaction.output()}`.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => !isEntry(line))).toEqual([]);
  });

  test('a stack trace names the source file it comes from', async () => {
    const given = image.run(
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
