import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import type { Message } from './cases.ts';

const MAXIMUM_ENTRIES = 200;
const MAXIMUM_CHARACTERS = 500;

/** The lists of the structured state and the titles under which the model reads them, in this order. */
const listTitles = {
  immutable_facts: 'Immutable facts',
  locked_decisions: 'Locked decisions',
  forbidden_behaviors: 'Forbidden behaviors (NEVER do)',
  deferred_items: 'Deferred items',
  unresolved_items: 'Unresolved items',
} as const;

type ListName = keyof typeof listTitles;
const listNames = Object.keys(listTitles) as ListName[];

type State = Record<ListName, string[]> & { entity_map: Record<string, string> };

/** What stands in for the conversation. */
export interface Artifact {
  summary: string;
  state?: State;
  /** Why the engine left the turns as they were. */
  refusal?: string;
}

const clean = (value: unknown): string =>
  typeof value === 'string' ? value.trim().slice(0, MAXIMUM_CHARACTERS) : '';

/** Reads the JSON of a model leniently: what does not fit is left out. */
export function parseState(text: string): State {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const fields = new Map(typeof value === 'object' && value ? Object.entries(value) : []);
  const list = (name: ListName): string[] => {
    const entries: unknown = fields.get(name);
    const texts = Array.isArray(entries) ? entries.map(clean) : [];
    return texts.filter((entry) => entry !== '').slice(0, MAXIMUM_ENTRIES);
  };
  const entities: unknown = fields.get('entity_map');
  const isMap = typeof entities === 'object' && entities !== null && !Array.isArray(entities);
  const pairs = Object.entries(isMap ? entities : {}).map(([name, role]) => [name, clean(role)]);
  const lists = Object.fromEntries(listNames.map((name) => [name, list(name)]));
  return {
    ...(lists as Record<ListName, string[]>),
    entity_map: Object.fromEntries(pairs.filter(([, role]) => role !== '')),
  };
}

/** The ledger of a cycle after the one before: everything accumulates but immutable facts. */
export function mergeStates(before: State | undefined, now: State): State {
  if (before === undefined) return now;
  const both = (name: ListName): string[] => [...new Set([...before[name], ...now[name]])];
  const lists = Object.fromEntries(listNames.map((name) => [name, both(name)]));
  return {
    ...(lists as Record<ListName, string[]>),
    immutable_facts: now.immutable_facts,
    entity_map: { ...before.entity_map, ...now.entity_map },
  };
}

const entityLines = ({ entity_map }: State): string[] =>
  Object.entries(entity_map).map(([name, role]) => `${name}: ${role}`);

function stateText(state: State): string {
  const sections = [
    ...listNames.map((name) => ({ title: listTitles[name], lines: state[name] })),
    { title: 'Entity roles', lines: entityLines(state) },
  ];
  return sections
    .filter(({ lines }) => lines.length > 0)
    .map(({ title, lines }) => `${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`)
    .join('\n\n');
}

/** What the answering model reads in place of the conversation. */
export function artifactText({ summary, state }: Artifact): string {
  const stated = state === undefined ? '' : stateText(state);
  const blocks = [
    ...(summary === '' ? [] : [`SUMMARY:\n${summary}`]),
    ...(stated === '' ? [] : [`STRUCTURED STATE:\n${stated}`]),
  ];
  return blocks.join('\n\n') || '(no summary or structured state)';
}

export const renderMessages = (messages: readonly Message[]): string =>
  messages.map(({ role, content }) => `${role.toUpperCase()}: ${content}`).join('\n\n');

const tokens = (text: string): number => estimateTextTokens(text, 'character-class');

export const messageTokens = (messages: readonly Message[]): number =>
  messages.reduce((sum, { content }) => sum + tokens(content), 0);

/** Of the summary and the entries of the state, without titles. */
export function artifactTokens({ summary, state }: Artifact): number {
  const entries = state ? [...listNames.flatMap((name) => state[name]), ...entityLines(state)] : [];
  return [summary, ...entries].reduce((sum, text) => sum + tokens(text), 0);
}
