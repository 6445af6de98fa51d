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

/** What a good model makes of a log. */
export const GOOD = 'Order TK-88341 went to door 17. The list is in /srv/store/list-alpha.csv.';
