import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingTerraform } from '../support/tools.ts';
import { terraformFolder } from './check-terraform.ts';
import { startOfflineTerraform, type OfflineTerraform } from './offline/run-terraform.ts';

/** A change of one place in a file, and what the check that catches it says. */
interface Mistake {
  mistake: string;
  file: string;
  /** Text that stands there; the first one is replaced. */
  from: string;
  to: string;
  says: string;
}

const invalid: Mistake[] = [
  {
    mistake: 'an argument that there is not',
    file: 'pubsub.tf',
    from: 'message_retention_duration = local.dead_letters_kept',
    to: 'retention_duration = local.dead_letters_kept',
    says: 'An argument named "retention_duration" is not expected here',
  },
  {
    mistake: 'an argument that is missing',
    file: 'scheduler.tf',
    from: 'topic_name = google_pubsub_topic.compaction.id',
    to: '',
    says: 'The argument "topic_name" is required',
  },
  {
    mistake: 'a value of another type',
    file: 'apis.tf',
    from: 'disable_on_destroy = false',
    to: 'disable_on_destroy = "never"',
    says: 'Inappropriate value for attribute "disable_on_destroy": a bool is required',
  },
  {
    mistake: 'an attribute that there is not',
    file: 'outputs.tf',
    from: 'google_service_account.push.email',
    to: 'google_service_account.push.mail',
    says: 'This object has no argument, nested block, or exported attribute named "mail"',
  },
  {
    mistake: 'a block that there is not',
    file: 'secrets.tf',
    from: 'auto {}',
    to: 'automatic {}',
    says: 'Blocks of type "automatic" are not expected here',
  },
  {
    mistake: 'a variable that nobody declares',
    file: 'firestore.tf',
    from: 'var.point_in_time_recovery ?',
    to: 'var.recovery ?',
    says: 'An input variable with the name "recovery" has not been declared',
  },
];

const careless: Mistake[] = [
  {
    mistake: 'a primitive role',
    file: 'iam.tf',
    from: 'roles/aiplatform.user',
    to: 'roles/editor',
    says: 'No primitive role, and nobody unknown, on the project.',
  },
  {
    mistake: 'a worker that anybody may call',
    file: 'functions.tf',
    from: 'member   = google_service_account.push.member',
    to: 'member   = "allUsers"',
    says: 'The account that pushes, and nobody else, may call the worker.',
  },
  {
    mistake: 'a right on every database',
    file: 'iam.tf',
    from: String.raw`databases/${'${var.database_id}'}\"`,
    to: String.raw`databases/\"`,
    says: 'The functions may use this database, no other of the project.',
  },
  {
    mistake: 'a worker that may not ask again',
    file: 'iam.tf',
    from: `"publish_compaction" {
  for_each = local.function_members`,
    to: `"publish_compaction" {
  for_each = { chat = local.function_members.chat }`,
    says: 'Both functions publish to both topics, each right on its topic.',
  },
  {
    mistake: 'dead letters that nobody may publish',
    file: 'pubsub.tf',
    from: `  topic   = each.value
  role    = "roles/pubsub.publisher"`,
    to: `  topic   = each.value
  role    = "roles/pubsub.viewer"`,
    says: "Pub/Sub's own account must be allowed to publish dead letters.",
  },
  {
    mistake: 'dead letters that are never acknowledged',
    file: 'pubsub.tf',
    from: `  role         = "roles/pubsub.subscriber"
  member       = local.pubsub_agent`,
    to: `  role         = "roles/pubsub.subscriber"
  member       = google_service_account.push.member`,
    says: 'must be allowed to acknowledge what it moves to the dead letters.',
  },
  {
    mistake: 'a subscription that expires',
    file: 'pubsub.tf',
    from: 'ttl = ""',
    to: 'ttl = "2678400s"',
    says: 'No subscription may expire.',
  },
  {
    mistake: 'an ordering key',
    file: 'pubsub.tf',
    from: 'enable_message_ordering = false',
    to: 'enable_message_ordering = true',
    says: 'No order: a poison message would block its conversation.',
  },
  {
    mistake: 'a token that the worker refuses',
    file: 'pubsub.tf',
    from: 'audience              = local.push_audience',
    to: 'audience              = local.chat_url',
    says: 'Pub/Sub must push with the token that the worker expects.',
  },
  {
    mistake: 'a database that a destroy takes along',
    file: 'firestore.tf',
    from: '? "DELETE_PROTECTION_ENABLED" : "DELETE_PROTECTION_DISABLED"',
    to: '? "DELETE_PROTECTION_DISABLED" : "DELETE_PROTECTION_ENABLED"',
    says: 'The database must survive a destroy unless it is said otherwise.',
  },
  {
    mistake: 'a bucket that can be made public',
    file: 'storage.tf',
    from: 'public_access_prevention    = "enforced"',
    to: 'public_access_prevention    = "inherited"',
    says: 'No object of any bucket can be made public.',
  },
  {
    mistake: 'an archive whose name stays',
    file: 'storage.tf',
    from: String.raw`"recap-${'${filesha256(var.source_archive)}'}.zip"`,
    to: '"recap.zip"',
    says: 'The archive is named by its content: else a new one is never deployed.',
  },
  {
    mistake: 'an API that goes off for others',
    file: 'apis.tf',
    from: 'disable_on_destroy = false',
    to: 'disable_on_destroy = true',
    says: 'Taking Recap away must not turn APIs off that others use.',
  },
  {
    mistake: 'an old runtime',
    file: 'functions.tf',
    from: '"nodejs24"',
    to: '"nodejs20"',
    says: 'Both functions are built from the one archive, for Node 24.',
  },
  {
    mistake: 'a schedule that publishes something else',
    file: 'scheduler.tf',
    from: 'kind = "sweep"',
    to: 'kind = "clean"',
    says: "The schedule publishes the sweep to the worker's topic.",
  },
  {
    mistake: 'a rule whose name is none for Prometheus',
    file: 'monitoring.tf',
    from: 'alert_rule = replace(each.key, "-", "_")',
    to: 'alert_rule = each.key',
    says: 'The rule of an alert must have a name that Prometheus takes',
  },
  {
    mistake: 'a worker that the internet reaches',
    file: 'functions.tf',
    from: '"ALLOW_INTERNAL_ONLY"',
    to: '"ALLOW_ALL"',
    says: 'The worker must take no request from the internet.',
  },
];

/** Terraform breaks lines where they get long. */
const unbroken = (text: string) => text.replaceAll(/[\s│╷╵]+/g, ' ');

describe.skipIf(missingTerraform().length > 0)('a mistake', () => {
  let terraform: OfflineTerraform;
  const scratch: string[] = [];
  let tested: string;

  /** A copy of the module with all of these mistakes. */
  async function plant(mistakes: readonly Mistake[]): Promise<string> {
    const copy = await mkdtemp(join(tmpdir(), 'recap-mistakes-'));
    scratch.push(copy);
    const folder = join(copy, 'terraform');
    await cp(terraformFolder, folder, { recursive: true });
    const firestore = join('infra', 'firestore');
    await cp(join(terraformFolder, '..', firestore), join(copy, firestore), { recursive: true });
    for (const { file, from, to } of mistakes) {
      const text = await readFile(join(folder, file), 'utf8');
      if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
      await writeFile(
        join(folder, file),
        text.replace(from, () => to),
      );
    }
    return folder;
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
    const folder = await plant(careless);
    tested = await check(folder, 'test', '-filter=tests/defaults.tftest.hcl');
  }, 300_000);

  afterAll(async () => {
    await terraform.stop();
    for (const folder of scratch) await rm(folder, { recursive: true, force: true });
  });

  test.each(invalid)('$mistake is not valid', async (mistake) => {
    const folder = await plant([mistake]);
    // Tests name the module again, which has it told of three times.
    await rm(join(folder, 'tests'), { recursive: true });

    expect(await check(folder, 'validate')).toContain(mistake.says);
  });

  test.each(careless)('$mistake fails a test', ({ says }) => {
    expect(tested).toContain(says);
  });
});
