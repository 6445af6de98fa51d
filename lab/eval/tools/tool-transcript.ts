import { canonicalJson } from '#shared/json-text.ts';
import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { ScriptedTurn } from './tool-script.ts';

/** What must stand in the transcript, in order; an open call has some error. */
type Entry =
  | { type: 'text'; text: string }
  | { type: 'functionCall'; name: string; args: object }
  | { type: 'functionResponse'; name: string; response: object | undefined };

/** Neighbouring texts as one: a stream may cut a text anywhere. */
function joined(entries: readonly Entry[]): Entry[] {
  const all: Entry[] = [];
  for (const entry of entries) {
    const last = all.at(-1);
    if (entry.type === 'text' && last?.type === 'text')
      all.splice(-1, 1, { type: 'text', text: last.text + entry.text });
    else all.push(entry);
  }
  return all;
}

function wantedOf({ answers, calls }: ScriptedTurn): Entry[] {
  let next = 0;
  return joined(
    answers.flatMap(({ parts }) => {
      const said = parts.map(({ text, functionCall }): Entry =>
        functionCall
          ? { type: 'functionCall', name: functionCall.name, args: functionCall.args ?? {} }
          : { type: 'text', text: (text ?? '').toWellFormed() },
      );
      const asked = said.filter(({ type }) => type === 'functionCall').length;
      const responses = calls.slice(next, (next += asked)).map(({ name, response }): Entry => ({
        type: 'functionResponse',
        name,
        response,
      }));
      return [...said, ...responses];
    }),
  );
}

/** Of a call only what a recording has, too. */
function asRecorded(part: MessageView['parts'][number]): Entry[] {
  switch (part.type) {
    case 'file':
      return [];
    case 'text':
      return [part];
    case 'functionCall':
      return [{ type: part.type, name: part.name, args: part.args }];
    case 'functionResponse':
      return [{ type: part.type, name: part.name, response: part.response }];
  }
}

const foundOf = ({ parts }: Pick<MessageView, 'parts'>): Entry[] =>
  joined(parts.flatMap(asRecorded));

function isSame(wanted: Entry | undefined, found: Entry | undefined): boolean {
  if (wanted?.type === 'functionResponse' && wanted.response === undefined)
    return found?.type === 'functionResponse' && found.name === wanted.name && hasError(found);
  return canonicalJson(wanted) === canonicalJson(found);
}

const hasError = (entry: Entry): boolean =>
  entry.type === 'functionResponse' && entry.response !== undefined && 'error' in entry.response;

const named = (entry: Entry | undefined): string =>
  entry === undefined
    ? 'nothing'
    : entry.type === 'text'
      ? 'a text'
      : `${entry.type} ${entry.name}`;

/** Where the transcript is other than the recording, a line a turn; empty: everything stands there, in order. */
export function transcriptProblems(
  turns: readonly ScriptedTurn[],
  messages: readonly MessageView[],
): string[] {
  const problems: string[] = [];
  const bySeq = Map.groupBy(messages, ({ seq }) => seq);
  for (const [index, turn] of turns.entries()) {
    const seq = index + 1;
    const [user, answer, ...others] = bySeq.get(seq) ?? [];
    const said = foundOf(user ?? { parts: [] });
    if (!isSame({ type: 'text', text: turn.userTexts.join('') }, said[0]) || said.length !== 1)
      problems.push(`turn ${seq}: the message is another one`);
    if (others.length > 0) problems.push(`turn ${seq}: ${others.length} messages too many`);
    const wanted = wantedOf(turn);
    const found = foundOf(answer ?? { parts: [] });
    const count = Math.max(wanted.length, found.length);
    const place = Array.from({ length: count }).findIndex(
      (_, at) => !isSame(wanted[at], found[at]),
    );
    if (place >= 0)
      problems.push(
        `turn ${seq}, entry ${place} of ${count}: ${named(wanted[place])} recorded, ${named(found[place])} found`,
      );
  }
  const extra = messages.filter(({ seq }) => seq > turns.length).length;
  return extra === 0 ? problems : [...problems, `${extra} messages after the last turn`];
}
