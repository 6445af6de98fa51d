import { generationParams, messageParams } from '#shared/wire/fields.ts';
import { noQuery } from '#shared/wire/queries.ts';
import {
  feedbackBody,
  feedbackResponse,
  feedbackView,
  rateBody,
  ratingResponse,
  ratingView,
} from '#shared/wire/resources/ratings.ts';
import { deleteFeedback, putFeedback } from '../features/give-feedback.ts';
import { rateCompaction } from '../features/rate-compaction.ts';
import { emptyBody, noBody, userRoute } from '../route.ts';

/** The answer, not the message of the user, which has a `messageId` as well. */
const AFTER_ANSWER = {
  sendMessage: {
    parameters: {
      conversationId: '$request.path.conversationId',
      messageId: '$response.body#/message/id',
    },
  },
};

const feedbackPath = '/v1/conversations/{conversationId}/messages/{messageId}/feedback';

export const putFeedbackRoute = userRoute({
  operation: 'putFeedback',
  method: 'PUT',
  path: feedbackPath,
  summary:
    'Says what the user thinks of an answer; again, it takes the place of what was said before.',
  params: messageParams,
  query: noQuery,
  body: feedbackBody,
  response: feedbackResponse,
  statuses: [200],
  follows: AFTER_ANSWER,
  errors: ['NOT_AN_ANSWER', 'TURN_IN_PROGRESS'],
  handle: async (dependencies, { caller, params, body }) => ({
    kind: 'json',
    body: feedbackView(await putFeedback(dependencies, { caller, ...params, feedback: body })),
  }),
});

export const deleteFeedbackRoute = userRoute({
  operation: 'deleteFeedback',
  method: 'DELETE',
  path: feedbackPath,
  summary: 'Takes back what the user said of an answer.',
  params: messageParams,
  query: noQuery,
  body: emptyBody,
  response: noBody,
  statuses: [204],
  follows: AFTER_ANSWER,
  errors: ['NOT_AN_ANSWER', 'TURN_IN_PROGRESS'],
  handle: async (dependencies, { caller, params }) => {
    await deleteFeedback(dependencies, { caller, ...params });
    return { kind: 'empty', status: 204 };
  },
});

export const rateCompactionRoute = userRoute({
  operation: 'rateCompaction',
  method: 'POST',
  path: '/v1/conversations/{conversationId}/compactions/{generation}:rate',
  summary:
    'Says how good the user finds a compaction, from 1 to 5; again, it takes the place of what was said before.',
  params: generationParams,
  query: noQuery,
  body: rateBody,
  response: ratingResponse,
  statuses: [200],
  handle: async (dependencies, { caller, params, body }) => ({
    kind: 'json',
    body: ratingView(await rateCompaction(dependencies, { caller, ...params, ...body })),
  }),
});
