import type { Content } from '#shared/conversation/documents/content.ts';
import { modelText, type TurnToBuild } from './conversation-builder.ts';

/** One that must come through word for word. */
export const ERROR =
  'TypeError: rack is undefined\n    at place (rack.ts:41)\n    at main (store.ts:7)';

/** 130,000 characters, with one order, one error and one path that matter. */
export const log = (name: string, rows = 4_000) => {
  const lines = Array.from({ length: rows }, (_, row) => `row ${row} of ${name}: all is well`);
  lines[900] = `order TK-88341 of ${name} went to door 17`;
  lines[2_000] = ERROR;
  lines[3_000] = `the list of ${name} is in /srv/store/list-${name}.csv`;
  return lines.join('\n');
};

/** A turn in which a tool gave these outputs, one after the other. */
export const logTurn = (...outputs: readonly string[]): TurnToBuild => {
  const contents = outputs.flatMap((output): Content[] => [
    { role: 'model', parts: [{ functionCall: { name: 'read_log', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'read_log', response: { output } } }] },
  ]);
  return { user: 'Read the log.', answer: [...contents, modelText('I read it.')] };
};

/** What a good model makes of a log. */
export const GOOD = 'Order TK-88341 went to door 17. The list is in /srv/store/list-alpha.csv.';
