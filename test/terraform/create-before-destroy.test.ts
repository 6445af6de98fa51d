import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { terraformFolder } from './check-terraform.ts';
import { readModule } from './read-module.ts';

/*
 * Terraform destroys what is taken away before it changes what names it, unless told otherwise; Google refuses to
 * delete what is in use, and a function whose secret is gone does not start. No plan shows that.
 */

const lifecycleSchema = z.object({
  lifecycle: z.tuple([z.object({ create_before_destroy: z.literal(true) })]),
});

test.each([
  ['', 'google_firebaserules_ruleset.firestore', 'its release'],
  ['', 'google_monitoring_notification_channel.email', 'alerts'],
  ['', 'google_project_iam_member.firestore', 'functions'],
  ['', 'google_project_iam_member.vertex', 'functions'],
  ['', 'google_secret_manager_secret_iam_member.functions', 'functions'],
  ['', 'google_secret_manager_secret_version.value', 'functions'],
  ['', 'google_storage_bucket_object.source', 'functions'],
  ['examples/load-balancer', 'google_compute_managed_ssl_certificate.chat', 'the proxy'],
])(
  'in terraform/%s, %s is replaced before it is destroyed, for it is used by %s',
  async (root, address) => {
    const { resources } = await readModule(join(terraformFolder, root));
    const found = resources.find((resource) => resource.address === address);

    expect(lifecycleSchema.safeParse(found?.body).error).toBeUndefined();
  },
);
