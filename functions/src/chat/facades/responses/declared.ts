/* What the declarations of the Responses API have in common. */

/** Where the Responses API is served: OpenAI's clients take a base address, others this one. */
export const addresses = (path: string) => ({
  path: `/v1/openai/responses${path}`,
  aliases: [`/v1/responses${path}`],
});

/** Of one that is stored. */
export const STORED_ERRORS = [
  'RESPONSE_NOT_FOUND',
  'CONVERSATION_NOT_FOUND',
  'TURN_NOT_FOUND',
] as const;

/** What an answer is found by. */
export const OF_CREATED = { createResponse: { parameters: { responseId: '$response.body#/id' } } };
