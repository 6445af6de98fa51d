import type { GitState } from '../git-state.ts';
import { maskText } from './mask.ts';
import type { StepResult } from './run-steps.ts';

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
