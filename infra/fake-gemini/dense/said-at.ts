import { hasTurnMarks, type Line, markedLines } from '../summaries/ledger-lines.ts';
import type { RequestContent } from '../server/request.ts';
import { splitSentences } from '../answers/sentences.ts';

/** When a sentence was said first, and by whom and to whom where lines begin with names. */
export interface SaidAt {
  seq: number | undefined;
  day: string | undefined;
  name: string | undefined;
  hearer: string | undefined;
}

const stageMark = /^\[[^\]]*\]\s*/u;
const named = /^(?:\[[^\]]*\]\s*)?(\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?): (?=\S)/u;
const fewestNamed = 3;
const namedShare = 0.5;

/** The name that most turns of this speaker begin with: `Ann: I went …`. */
function nameIn(lines: readonly Line[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { text } of lines) {
    const name = named.exec(text)?.[1];
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const [name, count = 0] = [...counts].toSorted((a, b) => b[1] - a[1])[0] ?? [];
  const turns = new Set(lines.map(({ seq }) => seq)).size;
  return count >= fewestNamed && count >= namedShare * turns ? name : undefined;
}

/** What the history tells of each of its sentences beside the words. */
export function readSaidAt(contents: readonly RequestContent[]): Map<string, SaidAt> {
  const lines = contents.flatMap((each) => (hasTurnMarks(each) ? markedLines(each) : []));
  const user = nameIn(lines.filter(({ saidBy }) => saidBy === 'user'));
  const model = nameIn(lines.filter(({ saidBy }) => saidBy === 'model'));
  const sentences = new Map<string, SaidAt>();
  for (const { text, saidBy, seq, day } of lines) {
    const [name, hearer] = saidBy === 'user' ? [user, model] : [model, user];
    const saidAt = { seq, day, ...(saidBy !== 'tool' ? { name, hearer } : {}) };
    for (const sentence of splitSentences(text))
      if (!sentences.has(sentence))
        sentences.set(sentence, { name: undefined, hearer: undefined, ...saidAt });
  }
  return sentences;
}

/** `[Monday, 8 pm] Ann: I went` → `I went`. */
export function withoutName(text: string, name: string | undefined): string {
  const said = text.replace(stageMark, '');
  return name !== undefined && said.startsWith(`${name}: `) ? said.slice(name.length + 2) : said;
}
