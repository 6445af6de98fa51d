import type { Content } from '#shared/models/content.ts';

const idsOf = (content: Content | undefined, kind: 'functionCall' | 'functionResponse') =>
  content?.parts.flatMap((part) => part[kind]?.id ?? []) ?? [];

/**
 * Calls that the next content does not answer, and responses whose call is not in the content before, by
 * id: what the Gemini API refuses with 400. Parts without an id are not looked at.
 */
export function brokenPairs(contents: readonly Content[]): string[] {
  return contents.flatMap((content, index) => {
    const responded = idsOf(contents[index + 1], 'functionResponse');
    const called = idsOf(contents[index - 1], 'functionCall');
    return [
      ...idsOf(content, 'functionCall').filter((id) => !responded.includes(id)),
      ...idsOf(content, 'functionResponse').filter((id) => !called.includes(id)),
    ];
  });
}
