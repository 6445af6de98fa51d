import { similarity } from '#shared/text/nearest-word.ts';

interface Address {
  method: string;
  /** AIP form, e.g. `/v1/conversations/{conversationId}:compact`. */
  path: string;
}

/** Longer addresses are none of ours that was misspelt. */
const COMPARED_SEGMENTS = 12;
const COMPARED_CHARACTERS = 400;

/** What it costs to put a segment in or to leave one out; less where it is the version or an id that is missing. */
const SEGMENT_COST = 1;
const FORGOTTEN_COST = 0.4;
/** An id in the place of a parameter, and what is no id of ours there, such as `undefined`. */
const ID_COST = 0.1;
const NO_ID_COST = 0.5;
/** Two segments that are not alike: dearer than one of them left out, cheaper than both. */
const UNLIKE_COST = 1.6;
/** An address that is further away than this is not suggested: one segment, and a few letters. */
const SUGGESTED_COST = 1.5;

/** `v1`, `conversations`, `{conversationId}`, `:compact` of `/v1/conversations/{conversationId}:compact`. */
const segmentsIn = (path: string): string[] =>
  path
    .replaceAll(/:(?=[a-z])/gi, '/:')
    .split('/')
    .filter((segment) => segment !== '');

const isParameter = (segment: string) => segment.startsWith('{');

const withoutColon = (segment: string) => segment.replace(/^:/, '');

const isVersion = (segment: string) => /^v\d$/.test(segment);

/** What may be an id: it has a digit, as every UUID, turn and answer has. */
const mayBeId = (segment: string) => /\d/.test(segment);

const forgottenCost = (served: string) =>
  isVersion(served) || isParameter(served) ? FORGOTTEN_COST : SEGMENT_COST;

function segmentCost(given: string, served: string): number {
  if (given === served) return 0;
  if (isVersion(given)) return isVersion(served) ? FORGOTTEN_COST : UNLIKE_COST;
  if (isParameter(served)) return mayBeId(given) ? ID_COST : NO_ID_COST;
  const likeness = similarity(withoutColon(given), withoutColon(served));
  return likeness === undefined ? UNLIKE_COST : 0.1 + 1 - likeness;
}

/** The cheapest way from one address to another, segment by segment. */
function pathCost(given: readonly string[], served: readonly string[]): number {
  let sum = 0;
  let above = served.map((segment) => (sum += forgottenCost(segment)));
  let left = 0;
  for (const segment of given) {
    const row: number[] = [];
    let diagonal = left;
    left += SEGMENT_COST;
    let before = left;
    for (const [column, other] of served.entries()) {
      const up = above[column] ?? 0;
      before = Math.min(
        diagonal + segmentCost(segment, other),
        up + SEGMENT_COST,
        before + forgottenCost(other),
      );
      diagonal = up;
      row.push(before);
    }
    above = row;
  }
  return above.at(-1) ?? left;
}

/**
 * The served address that an unknown one is most like, and the methods that it takes: one with a segment too many or
 * too few, such as a missing `/v1`, or with some letters wrong. A heuristic, for a sentence to whoever misspelt it;
 * undefined where none is alike.
 */
export function nearestRoute(
  { method, path }: Address,
  routes: readonly Address[],
): { path: string; methods: string[] } | undefined {
  if (path.length > COMPARED_CHARACTERS) return undefined;
  const given = segmentsIn(path);
  if (given.every(isVersion) || given.length > COMPARED_SEGMENTS) return undefined;
  let best: { path: string; cost: number } | undefined;
  for (const route of routes) {
    // Nobody who meant something else is sent to a call that deletes.
    if (route.method === 'DELETE' && method !== 'DELETE') continue;
    const cost = pathCost(given, segmentsIn(route.path)) + (route.method === method ? 0 : 0.05);
    if (cost <= SUGGESTED_COST && (best === undefined || cost < best.cost))
      best = { path: route.path, cost };
  }
  const { path: found } = best ?? {};
  if (found === undefined) return undefined;
  const methods = routes.filter((route) => route.path === found).map((route) => route.method);
  return {
    path: found,
    methods: methods.includes(method) ? [method] : methods.filter((each) => each !== 'DELETE'),
  };
}
