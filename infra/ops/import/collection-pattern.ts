import { ArgumentError } from '../arguments.ts';

/** Names of the documents that a path has passed, by parameter. */
export type Parameters = Readonly<Record<string, string>>;

/** A collection path as the extension is given it: every second segment may be a `{parameter}`. */
export interface CollectionPattern {
  text: string;
  segments: readonly string[];
  parameters: readonly string[];
}

const FORM = /^[^/\s]+(?:\/[^/\s]+\/[^/\s]+)*$/u;
/** What Firestore keeps for itself. */
const RESERVED = /^__.*__$/u;
/** Ids of users of Firebase Authentication. */
const UID = /^[^\s/{}]{1,128}$/u;

/** The parameter that a segment is, or undefined for a name. */
export const parameterIn = (segment: string): string | undefined =>
  /^\{([^{}/]+)\}$/u.exec(segment)?.[1];

/** Throws ArgumentError for what is no path of a collection, and for a collection whose name is not known. */
export function parseCollectionPattern(text: string): CollectionPattern {
  const segments = text.split('/');
  const isForm = FORM.test(text);
  const hasFreeCollection = segments.some((one, i) => i % 2 === 0 && /[{}]/u.test(one));
  const isReserved = segments.some((one) => RESERVED.test(one));
  if (!isForm || hasFreeCollection || isReserved)
    throw new ArgumentError(
      `--from takes the path of a collection, such as users/{uid}/discussions/{discussionId}/messages, not ${JSON.stringify(text)}; only documents may be parameters`,
    );
  const parameters = segments.flatMap((segment) => parameterIn(segment) ?? []);
  if (new Set(parameters).size < parameters.length)
    throw new ArgumentError(`--from names a parameter twice: ${text}`);
  return { text, segments, parameters };
}

/**
 * Whose the discussions are: one user, or the document that a parameter names. Throws ArgumentError for a parameter
 * that the pattern has not.
 */
export function parseOwner(
  text: string,
  { parameters, text: pattern }: CollectionPattern,
): (found: Parameters) => string {
  const name = parameterIn(text);
  if (name === undefined) {
    if (UID.test(text)) return () => text;
    throw new ArgumentError(
      `--owner takes a uid or a {parameter} of --from, not ${JSON.stringify(text)}`,
    );
  }
  if (!parameters.includes(name))
    throw new ArgumentError(
      `whose are the conversations? ${pattern} has no {${name}}: give --owner UID, or --owner '{parameter}' with one of its parameters`,
    );
  return (found) => found[name] ?? '';
}
