import { expect, test } from 'vitest';
import { z } from 'zod';
import { readModule } from '#infra/reference/terraform-module.ts';
import { terraformFolder } from './check-terraform.ts';

/*
 * Terraform destroys what is taken away before it changes what names it, unless told otherwise; Google refuses to
 * delete what is in use, and a function whose secret is gone does not start. No plan shows that.
 */

const lifecycleSchema = z.object({
  lifecycle: z.tuple([z.object({ create_before_destroy: z.literal(true) })]),
});

test.each([
  'google_firebaserules_ruleset.firestore',
  'google_monitoring_notification_channel.email',
  'google_project_iam_member.firestore',
  'google_project_iam_member.vertex',
  'google_secret_manager_secret_iam_member.functions',
  'google_secret_manager_secret_version.value',
  'google_storage_bucket_object.source',
])('%s is replaced before it is destroyed', async (address) => {
  const { resources } = await readModule(terraformFolder);
  const found = resources.find((resource) => resource.address === address);

  expect(lifecycleSchema.safeParse(found?.body).error).toBeUndefined();
});
