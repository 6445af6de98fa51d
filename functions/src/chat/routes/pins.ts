import { conversationParams } from '#shared/wire/fields.ts';
import {
  pinListResponse,
  pinParams,
  pinResponse,
  pinView,
  putPinBody,
} from '#shared/wire/resources/pins.ts';
import { noQuery } from '#shared/wire/queries.ts';
import { deletePin, putPin } from '../features/pins/change-pins.ts';
import { listPins, readPin } from '../features/pins/list-pins.ts';
import { emptyBody, noBody, userRoute } from '../route.ts';

const path = '/v1/conversations/{conversationId}/pins/{pinId}';

export const listPinsRoute = userRoute({
  operation: 'listPins',
  method: 'GET',
  path: '/v1/conversations/{conversationId}/pins',
  summary: 'What stays word for word in the context, and how much of its budget is used.',
  params: conversationParams,
  query: noQuery,
  body: noBody,
  response: pinListResponse,
  statuses: [200],
  handle: async (dependencies, { caller, params }) => ({
    kind: 'json',
    body: await listPins(dependencies, { caller, ...params }),
  }),
});

export const getPinRoute = userRoute({
  operation: 'getPin',
  method: 'GET',
  path,
  summary: 'One pin.',
  params: pinParams,
  query: noQuery,
  body: noBody,
  response: pinResponse,
  statuses: [200],
  handle: async (dependencies, { caller, params }) => ({
    kind: 'json',
    body: pinView(await readPin(dependencies, { caller, ...params })),
  }),
});

export const putPinRoute = userRoute({
  operation: 'putPin',
  method: 'PUT',
  path,
  summary:
    'Keeps a text word for word in every prompt, through every compaction, until it is deleted; under an id that has a pin it takes its place. An id whose pin was deleted is not taken again.',
  params: pinParams,
  query: noQuery,
  body: putPinBody,
  response: pinResponse,
  statuses: [200, 201],
  errors: ['PIN_BUDGET', 'IDEMPOTENCY_KEY_REUSED', 'CONVERSATION_BUSY'],
  example: { text: 'The harbour closes at 19:00.' },
  badParams: 'badArgument',
  handle: async (dependencies, { caller, params, body }) => {
    const { pin, isNew } = await putPin(dependencies, { caller, ...params, ...body });
    return { kind: 'json', status: isNew ? 201 : 200, body: pinView(pin) };
  },
});

export const deletePinRoute = userRoute({
  operation: 'deletePin',
  method: 'DELETE',
  path,
  summary: 'Takes a pin away. One that is not there is gone already.',
  params: pinParams,
  query: noQuery,
  body: emptyBody,
  response: noBody,
  statuses: [204],
  errors: ['CONVERSATION_BUSY'],
  handle: async (dependencies, { caller, params }) => {
    await deletePin(dependencies, { caller, ...params });
    return { kind: 'empty', status: 204 };
  },
});
