interface KnownDifference {
  /** What is seen; anything else is no known difference. */
  seen: RegExp;
  why: string;
}

/** Cases that do not pass, and why they are meant not to. */
const known: Readonly<Record<string, KnownDifference>> = {
  'server-managed agent rejects init state': {
    seen: /INVALID_ARGUMENT \(BAD_FIELD\), not FAILED_PRECONDITION/,
    why: 'Refused, as 400 `INVALID_ARGUMENT` that names the field, not `FAILED_PRECONDITION`: the wire has no field for a state.',
  },
  'failed snapshot includes error details': {
    seen: /the error says ".+", not "intentional failure"/,
    why: 'The turn is `failed` and its error has a status, a reason and a sentence of ours: what goes wrong inside is told to the log, not to users.',
  },
  'non-UUID sessionId accepted': {
    seen: /BAD_FIELD.+must be a UUID/,
    why: 'Conversation ids of our own wire are UUIDs, the refusal says so; `/v1/ai-sdk/chat` takes any name.',
  },
  'snapshotId with mismatched sessionId rejected': {
    seen: /NOT_FOUND \((?:CONVERSATION|MESSAGE)_NOT_FOUND\), not INVALID_ARGUMENT/,
    why: 'Refused, as 404 `NOT_FOUND`, not `INVALID_ARGUMENT`: the turn is looked up in the conversation of the path.',
  },
};

/** The sentence for a case that did not pass: why, or what was seen where that is new. */
export function explain(name: string, difference: string): string {
  const found = known[name];
  return found?.seen.test(difference) ? found.why : difference;
}
