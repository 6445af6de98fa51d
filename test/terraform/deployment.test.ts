import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { environmentSchema } from '#functions/config/environment.ts';
import { parseConfig } from '#functions/config.ts';
import { deployedNodeOptions } from '#infra/local/stack/stack-environment.ts';
import { deployedPushSettings } from '#infra/local/stack/pubsub-setup.ts';
import { secretVariables } from '#infra/reference/deployment-settings.ts';
import { missingTerraform } from '../support/tools/missing-tools.ts';
import { terraformFolder } from './check-terraform.ts';
import { makeResources, type MadeResource } from './made-resources.ts';
import { startOfflineTerraform } from './offline/offline-terraform.ts';
import type { Terraform } from './run-terraform.ts';
import { lackingIn } from './taken-as-valid.ts';

/** Each a file of Terraform's tests, and the run in it that is looked at here. */
const runs = ['defaults', 'options'];

/** What the framework reads. */
const notOurs = ['NODE_ENV', 'NODE_OPTIONS'];

const functionSchema = z.object({
  service_config: z.tuple([
    z.object({
      environment_variables: z.record(z.string(), z.string()),
      secret_environment_variables: z.array(z.object({ key: z.string() })),
      timeout_seconds: z.number(),
    }),
  ]),
});

const subscriptionSchema = z.object({
  ack_deadline_seconds: z.number(),
  retry_policy: z.tuple([z.object({ minimum_backoff: z.string(), maximum_backoff: z.string() })]),
  dead_letter_policy: z.tuple([z.object({ max_delivery_attempts: z.number() })]),
});

const rightSchema = z.object({
  /** None where the type takes rights away that others gave. */
  member: z.string().default(''),
  role: z.string(),
  condition: z.array(z.object({ expression: z.string() })).default([]),
});

/** Which API makes the resources whose types begin so. */
const apis: Readonly<Record<string, string>> = {
  google_artifact_registry: 'artifactregistry',
  google_billing: 'billingbudgets',
  google_cloud_run: 'run',
  google_cloud_scheduler: 'cloudscheduler',
  google_cloudfunctions2: 'cloudfunctions',
  google_firebaserules: 'firebaserules',
  google_firestore: 'firestore',
  google_logging: 'logging',
  google_monitoring: 'monitoring',
  google_project_service: 'serviceusage',
  google_project: 'cloudresourcemanager',
  google_pubsub: 'pubsub',
  google_secret_manager: 'secretmanager',
  google_service_account: 'iam',
  google_storage: 'storage',
};

/** The API of a resource's type; the type itself where the table lacks it. */
const apiOf = (type: string): string =>
  Object.entries(apis).find(([prefix]) => type.startsWith(prefix))?.[1] ?? type;

const secretsForTests = {
  GEMINI_API_KEY: 'a-key',
  HOOK_SIGNING_KEY: 'x'.repeat(40),
};

describe.skipIf(missingTerraform().length > 0)('what Terraform makes', () => {
  let terraform: Terraform;
  let problems: string[];
  let made: Map<string, MadeResource[]>;
  beforeAll(async () => {
    terraform = await startOfflineTerraform();
    // Between them they make every resource; the environments and what is refused: `npm run check:terraform`.
    const filters = runs.map((name) => `-filter=tests/${name}.tftest.hcl`);
    ({ problems, made } = await makeResources(terraform, terraformFolder, ...filters));
  }, 600_000);
  afterAll(() => terraform.stop());

  const ofType = (run: string, type: string) =>
    (made.get(run) ?? []).filter((resource) => resource.type === type);
  const functionNamed = (run: string, name: string) => {
    const found = ofType(run, 'google_cloudfunctions2_function').find((one) => one.name === name);
    return functionSchema.parse(found?.values).service_config[0];
  };

  const functions = runs.flatMap((run) => [
    { run, name: 'chat' },
    { run, name: 'compaction' },
  ]);

  test.each(functions)('$name of $run gets variables that the code reads', ({ run, name }) => {
    const { environment_variables: set, secret_environment_variables: secrets } = functionNamed(
      run,
      name,
    );
    const names = [...Object.keys(set), ...secrets.map(({ key }) => key)];

    const unknown = names.filter((one) => !(one in environmentSchema.shape));

    // What the code of an app reads is named ACME_… there.
    expect(unknown.filter((one) => !notOurs.includes(one) && !one.startsWith('ACME_'))).toEqual([]);
  });

  test.each(functions)('$name of $run starts with its variables', ({ run, name }) => {
    const { environment_variables: set, secret_environment_variables: secrets } = functionNamed(
      run,
      name,
    );
    const handed = secrets.map(({ key }) => [key, Reflect.get(secretsForTests, key)]);

    const config = parseConfig({ ...set, ...Object.fromEntries(handed) });

    expect(config.isDemo).toBe(false);
  });

  test.each(functions)('$name of $run gets no secret as plain text', ({ run, name }) => {
    const plain = Object.keys(functionNamed(run, name).environment_variables);

    expect(plain.filter((one) => secretVariables.includes(one))).toEqual([]);
  });

  test('the worker knows who pushes, which chat does not need', () => {
    const chat = functionNamed('defaults', 'chat').environment_variables;
    const worker = functionNamed('defaults', 'compaction').environment_variables;
    const more = Object.keys(worker).filter((name) => !(name in chat));

    expect(more.toSorted()).toEqual(['PUSH_AUDIENCE', 'PUSH_SERVICE_ACCOUNT']);
  });

  test.each([
    ['defaults', '(default)'],
    ['options', 'second'],
  ])('in %s both functions use the database %s', (run, database) => {
    const databases = ['chat', 'compaction'].map(
      (name) => functionNamed(run, name).environment_variables['FIRESTORE_DATABASE'],
    );

    expect(databases).toEqual([database, database]);
  });

  test.each(functions)('$name of $run runs as on the local stack', ({ run, name }) => {
    const { environment_variables: set } = functionNamed(run, name);

    expect(set['NODE_OPTIONS']).toBe(deployedNodeOptions);
  });

  test.each(runs)('in %s, the API of every resource is enabled', (run) => {
    const types = (made.get(run) ?? []).map(({ type }) => type);
    const needed = types.filter((type) => type.startsWith('google_')).map(apiOf);
    const enabled = ofType(run, 'google_project_service').map(({ values }) => values['service']);

    expect(enabled).toEqual(
      expect.arrayContaining([...new Set(needed)].map((api) => `${api}.googleapis.com`)),
    );
  });

  test.each([
    ['defaults', 'compaction'],
    ['options', 'compaction'],
    ['options', 'events'],
  ])('in %s, %s are delivered as on the local stack', (run, name) => {
    const found = ofType(run, 'google_pubsub_subscription').find((one) => one.name === name);
    const { ack_deadline_seconds, retry_policy, dead_letter_policy } = subscriptionSchema.parse(
      found?.values,
    );

    expect({
      ackDeadlineSeconds: ack_deadline_seconds,
      minBackoffSeconds: Number.parseInt(retry_policy[0].minimum_backoff, 10),
      maxBackoffSeconds: Number.parseInt(retry_policy[0].maximum_backoff, 10),
      maxDeliveryAttempts: dead_letter_policy[0].max_delivery_attempts,
    }).toEqual(deployedPushSettings);
  });

  test('the tests of the module with defaults and with options pass', () => {
    expect(problems).toEqual([]);
  });

  test('has what every resource of its type must have', () => {
    expect(lackingIn([...made.values()].flat())).toEqual([]);
  });

  // Terraform gives any right that it is told to give.
  const rights = () =>
    [...made.values()]
      .flat()
      .filter(({ type }) => type.includes('_iam_') && !type.endsWith('_custom_role'))
      .map(({ address, type, values }) => ({ address, type, ...rightSchema.parse(values) }));

  test('lets allUsers call chat and nothing else', () => {
    const open = rights().filter(({ member }) => member.startsWith('all'));

    expect(new Set(open.map(({ address }) => address.replace('module.recap.', '')))).toEqual(
      new Set(['google_cloud_run_v2_service_iam_member.chat_public[0]']),
    );
  });

  test('gives no primitive and no administrator’s role, and takes no right away', () => {
    const roles = new Set(rights().map(({ role }) => role));
    // Google has no smaller predefined role that may send.
    roles.delete('roles/firebasecloudmessaging.admin');

    expect([...roles].filter((role) => /owner|editor|^roles\/viewer|admin/i.test(role))).toEqual(
      [],
    );
    expect(rights().filter(({ type }) => !type.endsWith('_iam_member'))).toEqual([]);
  });

  test('gives on the project only what Google binds to no resource', () => {
    const unconditional = rights().filter(
      ({ type, condition }) => type === 'google_project_iam_member' && condition.length === 0,
    );

    expect([...new Set(unconditional.map(({ role }) => role))].toSorted()).toEqual([
      'projects/recap-test/roles/recap_own',
      'roles/firebaseauth.viewer',
      'roles/firebasecloudmessaging.admin',
      'roles/logging.logWriter',
    ]);
  });

  /** The names of resources for which the condition of a right holds; its language is here as JavaScript is. */
  const reached = (right: string, names: readonly string[]) => {
    const [given] = ofType('defaults', 'google_project_iam_member').filter(
      ({ address }) => address === `google_project_iam_member.${right}`,
    );
    const [{ expression } = { expression: 'false' }] = rightSchema.parse(given?.values).condition;
    return names.filter((name) => runInNewContext(expression, { resource: { name } }) === true);
  };

  test('lets the build list and read the archive and its copy, and no bucket named alike', () => {
    const ours = ['recap-test-recap-source', 'gcf-v2-sources-123456789012-us-central1']
      .map((bucket) => `projects/_/buckets/${bucket}`)
      .flatMap((bucket) => [bucket, `${bucket}/objects/recap/source.zip`]);
    const alike = ours.map((name) => name.replace(/(?<=-source|central1)/, '2'));

    expect(reached('build_sources', [...ours, ...alike])).toEqual(ours);
  });

  test.each(['chat', 'compaction'])('lets %s use its database and no other', (name) => {
    const database = 'projects/recap-test/databases/(default)';

    expect(reached(`firestore["${name}"]`, [database, `${database}2`])).toEqual([database]);
  });
});
