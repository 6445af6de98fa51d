import type { Candidate } from './ledger-lines.ts';
import { namesPath } from '../answers/facts.ts';
import { escapeXml } from '../answers/sentences.ts';

const recentCount = 3;

/** The section of a `<state_snapshot>` in which each statement belongs. */
function routeSections(items: readonly Candidate[]): Map<Candidate, string> {
  const recent = new Set(items.filter((item) => item.saidBy !== 'snapshot').slice(-recentCount));
  return new Map(
    items.map((item) => {
      if (item.isRule) return [item, 'active_constraints'];
      if (namesPath(item.text)) {
        return [item, item.saidBy === 'tool' ? 'file_system_state' : 'artifact_trail'];
      }
      return [item, recent.has(item) ? 'recent_actions' : 'key_knowledge'];
    }),
  );
}

const listSections = [
  'active_constraints',
  'key_knowledge',
  'artifact_trail',
  'file_system_state',
  'recent_actions',
];

/** One `<state_snapshot>` with the seven sections of Gemini CLI, one `- ` line per statement. */
export function renderSnapshotXml(goal: string, items: readonly Candidate[]): string {
  const sections = routeSections(items);
  const lists = listSections.map((name) => {
    const lines = items.filter((item) => sections.get(item) === name);
    const body = lines.map((item) => `- ${escapeXml(item.text)}\n`).join('');
    return `<${name}>\n${body}</${name}>`;
  });
  return [
    '<state_snapshot>',
    `<overall_goal>\n${escapeXml(goal)}\n</overall_goal>`,
    ...lists,
    '<task_state>\n- [IN PROGRESS] the conversation goes on\n</task_state>',
    '</state_snapshot>',
  ].join('\n');
}
