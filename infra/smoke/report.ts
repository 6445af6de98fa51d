import type { GitState } from '#infra/git-state.ts';
import type { StepResult } from './run-steps.ts';

const LOCAL = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/;

/** Hosts of Google's, without what names the project in them. */
const GOOGLE_HOSTS: readonly [RegExp, string][] = [
  [/^[\w.-]+\.googleapis\.com$/, '$&'],
  // The service, the project's number and the region.
  [/^(.+)-\d+\.([a-z0-9-]+)\.run\.app$/, '$1-[project].$2.run.app'],
  [/^(.+)-[a-z0-9]{10}-([a-z]+)\.a\.run\.app$/, '$1-[hash]-$2.a.run.app'],
  [/^([a-z]+-[a-z]+\d+)-.+\.cloudfunctions\.net$/, '$1-[project].cloudfunctions.net'],
  [/^.+\.(web\.app|firebaseapp\.com)$/, '[project].$1'],
];

function maskHost(host: string): string {
  if (LOCAL.test(host)) return host;
  const known = GOOGLE_HOSTS.find(([pattern]) => pattern.test(host));
  return known === undefined ? '[host]' : host.replace(...known);
}

/** By their form, wherever they stand: an answer may quote what was sent, and Google's errors name projects. */
const TELLING: readonly [RegExp, string][] = [
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[token]'],
  [/\b(Bearer|Basic) [^\s"',]+/gi, '$1 [token]'],
  [/\b(ENOTFOUND|EAI_AGAIN) [^\s"',]+/g, '$1 [host]'],
  [/\bgs:\/\/[^\s"'`/]+/g, 'gs://[bucket]'],
  [/[\w.-]+\.appspot\.com\b/g, '[project].appspot.com'],
  [/\bya29\.[\w.-]+/g, '[token]'],
  [/\bAIza[\w-]{30,}/g, '[key]'],
  [/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '[e-mail]'],
  [/\b(projects?[/=])[\w:.-]+/g, '$1[project]'],
  [/\b(project) \d{6,}/gi, '$1 [project]'],
  [/\b(in project) [\w:.-]+/g, '$1 [project]'],
];

/** A text without secrets, e-mails, ids of projects and hosts that are somebody's own. `secrets` are taken out by value. */
function maskText(text: string, secrets: readonly string[]): string {
  let masked = text;
  for (const secret of secrets) masked = masked.replaceAll(secret, '[secret]');
  masked = masked.replaceAll(
    /\b(https?:\/\/)([^\s/"'`|),;]+)/gi,
    (_, scheme: string, host: string) => `${scheme}${maskHost(host.toLowerCase())}`,
  );
  for (const [pattern, replacement] of TELLING) masked = masked.replaceAll(pattern, replacement);
  return masked;
}

/** What was checked, with what, and when. */
export interface SmokeRun {
  url: string;
  startedAt: Date;
  /** Version of the clone that checked. */
  version: string;
  git: GitState | undefined;
  /** `v24.0.0, linux x64`. */
  platform: string;
  /** What must not stand in a report. */
  secrets: readonly string[];
}

const LABELS = { ok: 'ok', failed: '**failed**', skipped: 'not run' } as const;

/** Our own words in a cell of a table. */
const cell = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;');
/** What a server may have said: not read as Markdown at all, so that it mentions nobody and links nothing. */
const quoted = (text: string): string =>
  text === ''
    ? ''
    : `\`${text.replaceAll(/\s+/g, ' ').replaceAll('`', "'").replaceAll('|', '\\|')}\``;

function row(result: StepResult, mask: (text: string) => string): string {
  const { name, outcome, durationMs, note = '', tried, came, remedy = '' } = result;
  const took = outcome === 'skipped' ? '' : `${durationMs} ms`;
  const said = quoted(mask(outcome === 'failed' ? `${tried}: ${came}` : note));
  return `| ${name} | ${LABELS[outcome]} | ${took} | ${said} | ${cell(mask(remedy))} |`;
}

/** Without what an address may have behind its path. */
function plainAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname === '/' ? '' : pathname}`;
}

const count = (results: readonly StepResult[], wanted: StepResult['outcome']): number =>
  results.filter(({ outcome }) => outcome === wanted).length;

function checkedWith({ version, git, platform }: SmokeRun): string {
  const changes = git && git.changed.length > 0 ? ', with changes that are not committed' : '';
  return `Recap ${version}${git ? `, commit ${git.commit}${changes}` : ''}; Node ${platform}`;
}

/** The results as Markdown for an issue: without tokens, keys, e-mails, ids of projects and own hosts. */
export function smokeReport(results: readonly StepResult[], run: SmokeRun): string {
  const mask = (text: string) => maskText(text, run.secrets);
  const failed = count(results, 'failed');
  return `### Smoke check of Recap: ${failed === 0 ? 'passed' : 'failed'} (${count(results, 'ok')} ok, ${failed} failed, ${count(results, 'skipped')} not run)

| Step | Result | Duration | What came, or why it did not run | Remedy |
| --- | --- | --: | --- | --- |
${results.map((result) => row(result, mask)).join('\n')}

- Address: ${quoted(mask(plainAddress(run.url)))}
- Checked with: ${checkedWith(run)}
- Started: ${run.startedAt.toISOString()}

Masked: \`[secret]\`, \`[token]\`, \`[key]\`, \`[e-mail]\`, \`[project]\`, \`[hash]\`, \`[host]\`. Ids of requests, turns and conversations are not masked: with them the operator finds the log lines.
`;
}
