import { deleteFeedback, putFeedback, rateCompaction } from '../features/ratings.ts';
import { json, noContent, noBody, userRoute } from '../route.ts';
import { generationParams, messageParams } from '#shared/wire/fields.ts';
import {
  feedbackBody,
  feedbackResponse,
  feedbackView,
  rateBody,
  ratingResponse,
  ratingView,
} from '#shared/wire/resources/ratings.ts';

export const putFeedbackRoute = userRoute({
  operation: 'putFeedback',
  summary:
    'Says what the user thinks of an answer; again, it takes the place of what was said before.',
  params: messageParams,
  body: feedbackBody,
  response: feedbackResponse,
  errors: ['NOT_AN_ANSWER', 'TURN_IN_PROGRESS'],
  handle: async (dependencies, { caller, params, body }) =>
    json(feedbackView(await putFeedback(dependencies, { caller, ...params, feedback: body }))),
});

export const deleteFeedbackRoute = userRoute({
  operation: 'deleteFeedback',
  summary: 'Takes back what the user said of an answer.',
  params: messageParams,
  response: noBody,
  statuses: [204],
  errors: ['NOT_AN_ANSWER', 'TURN_IN_PROGRESS'],
  handle: async (dependencies, { caller, params }) => {
    await deleteFeedback(dependencies, { caller, ...params });
    return noContent;
  },
});

export const rateCompactionRoute = userRoute({
  operation: 'rateCompaction',
  summary:
    'Says how good the user finds a compaction, from 1 to 5; again, it takes the place of what was said before.',
  params: generationParams,
  body: rateBody,
  response: ratingResponse,
  handle: async (dependencies, { caller, params, body }) =>
    json(ratingView(await rateCompaction(dependencies, { caller, ...params, ...body }))),
});
