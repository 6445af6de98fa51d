import { z } from 'zod';

/** The variables of files that users attach. Part of the environment's schema. */
export const uploadVariables = {
  UPLOADS_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/, 'must be the name of a bucket, without gs://')
    .optional()
    .describe(
      'Cloud Storage bucket of the files that users attach; without it there are no uploads. See docs/guides/attachments.md for its lifecycle rule and permissions.',
    ),
  UPLOADS_SIGNER: z
    .email()
    .optional()
    .describe(
      'E-mail of the service account that signs upload addresses, usually the one that chat runs as; it needs iam.serviceAccounts.signBlob on itself. Must be set with UPLOADS_BUCKET, but for a demo- project.',
    ),
};
