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

const joined = (...pieces: string[]) => pieces.join('');

/** One of each, put together here, so that the patterns are known to find something. */
const samples: Readonly<Record<string, string>> = {
  'Google API key': joined('AI', 'za', 'Sy', 'B3c-'.repeat(8), 'x'),
  'Google OAuth access token': joined('ya', '29.', 'a0Af'.repeat(6)),
  'Google OAuth client secret': joined('GOC', 'SPX-', 'a1b2'.repeat(6)),
  'service account key': joined('"private_key', '_id', '": "', '0a1b2c3d'.repeat(5), '"'),
  'private key': joined('-----BEGIN ', 'PRIVATE', ' KEY-----\n', 'MIIE'.repeat(6)),
  'Firebase Cloud Messaging server key': joined('AAAA', 'abcdefg', ':', 'aB3-_'.repeat(28)),
  'OpenAI or Anthropic key': joined('sk', '-proj-', 'aB3d'.repeat(8)),
  'AWS access key': joined('AK', 'IA', 'A1B2'.repeat(4)),
  'GitHub token': joined('gh', 'p_', 'aB3d'.repeat(9)),
  'npm token': joined('npm', '_', 'aB3d'.repeat(9)),
  'Slack token': joined('xox', 'b-', '12345-'.repeat(4), 'a'),
  'signed JWT': joined(
    'ey',
    'J',
    'abcd'.repeat(4),
    '.ey',
    'J',
    'abcd'.repeat(4),
    '.',
    'abcd'.repeat(6),
  ),
  'password in an address': joined('https://', 'me', ':', 'pa55word', '@db.internal'),
};

/** Every file that git has, or would have. */
async function repositoryFiles(): Promise<string[]> {
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await run('git', listed, { cwd: root, maxBuffer: 16_000_000 });
  return [...new Set(stdout.split('\0'))].filter((file) => file !== '');
}

const secretsIn = (text: string) =>
  Object.entries(secrets).flatMap(([name, pattern]) => (pattern.test(text) ? [name] : []));

test.each(Object.entries(samples))('S17: a %s is recognised', (name, sample) => {
  expect(secretsIn(`const found = '${sample}';`)).toContain(name);
});

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
