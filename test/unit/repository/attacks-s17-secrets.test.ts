import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/* Row S17 of the security checklist: keys and tokens in the files of the repository. */

const run = promisify(execFile);
const root = new URL('../../../', import.meta.url);

/** Forms of real keys and tokens; written so that this file holds none. */
const secrets: Readonly<Record<string, RegExp>> = {
  'Google API key': /AIza[\w-]{35}/u,
  'Google OAuth access token': /ya29\.[\w-]{20,}/u,
  'Google OAuth client secret': /GOCSPX-[\w-]{20,}/u,
  'service account key': /"private_key_id":\s*"[0-9a-f]{40}"/u,
  'private key': /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s*[\w+/=]{20,}/u,
  'Firebase Cloud Messaging server key': /AAAA[\w-]{7}:[\w-]{140}/u,
  'OpenAI or Anthropic key': /\bsk-(?:proj-|ant-)?[A-Za-z0-9][\w-]{30,}/u,
  'AWS access key': /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/u,
  'GitHub token': /\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{50,})/u,
  'npm token': /\bnpm_[A-Za-z0-9]{36}\b/u,
  'Slack token': /\bxox[abprs]-[\w-]{20,}/u,
  'signed JWT': /\beyJ[\w-]{15,}\.eyJ[\w-]{15,}\.[\w-]{20,}/u,
  'password in an address':
    /\b(?:https?|redis|postgres):\/\/[^\s/:@$'"`{}<>]+:[^\s/:@$'"`{}<>]{6,}@(?![\w.-]*\bexample\.)[\w.-]+/u,
};

/** Every file that git has, or would have. */
async function repositoryFiles(): Promise<string[]> {
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await run('git', listed, { cwd: root, maxBuffer: 16_000_000 });
  return [...new Set(stdout.split('\0'))].filter((file) => file !== '');
}

const secretsIn = (text: string) =>
  Object.entries(secrets).flatMap(([name, pattern]) => (pattern.test(text) ? [name] : []));

test('S17: no file of the repository holds a key or a token', async () => {
  const files = await repositoryFiles();

  const found = await Promise.all(
    files.map(async (file) => {
      // A file that was deleted and is not committed yet is still listed.
      const text = await readFile(new URL(file, root), 'utf8').catch(() => '');
      return secretsIn(text).map((name) => `${file}: ${name}`);
    }),
  );

  expect(files.length).toBeGreaterThan(500);
  expect(found.flat()).toEqual([]);
});

test('S17: no file is of a kind that holds keys', async () => {
  const files = await repositoryFiles();

  const kept =
    /(?:^|\/)(?:\.env(?:\..+)?|.*\.(?:pem|p12|pfx|key|keystore|jks|tfstate|tfvars)|.*service-?account.*\.json|google-services\.json|GoogleService-Info\.plist|\.npmrc)$/iu;
  expect(files.filter((file) => kept.test(file))).toEqual([]);
});
