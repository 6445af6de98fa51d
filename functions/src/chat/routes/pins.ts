import { deletePin, putPin, listPins, readPin } from '../features/pins.ts';
import { json, noContent, noBody, userRoute } from '../route.ts';
import { conversationParams } from '#shared/wire/fields.ts';
import {
  pinListResponse,
  pinParams,
  pinResponse,
  pinView,
  putPinBody,
} from '#shared/wire/resources/pins.ts';

export const listPinsRoute = userRoute({
  operation: 'listPins',
  summary: 'What stays word for word in the context, and how much of its budget is used.',
  params: conversationParams,
  response: pinListResponse,
  handle: async (dependencies, { caller, params }) =>
    json(await listPins(dependencies, { caller, ...params })),
});

export const getPinRoute = userRoute({
  operation: 'getPin',
  summary: 'One pin.',
  params: pinParams,
  response: pinResponse,
  handle: async (dependencies, { caller, params }) =>
    json(pinView(await readPin(dependencies, { caller, ...params }))),
});

export const putPinRoute = userRoute({
  operation: 'putPin',
  summary:
    'Keeps a text word for word in every prompt, through every compaction, until it is deleted; under an id that has a pin it takes its place. An id whose pin was deleted is not taken again.',
  params: pinParams,
  body: putPinBody,
  response: pinResponse,
  statuses: [200, 201],
  errors: ['PIN_BUDGET', 'IDEMPOTENCY_KEY_REUSED'],
  example: { text: 'The harbour closes at 19:00.' },
  badParams: 'badArgument',
  handle: async (dependencies, { caller, params, body }) => {
    const { pin, isNew } = await putPin(dependencies, { caller, ...params, ...body });
    return { kind: 'json', status: isNew ? 201 : 200, body: pinView(pin) };
  },
});

export const deletePinRoute = userRoute({
  operation: 'deletePin',
  summary: 'Takes a pin away. One that is not there is gone already.',
  params: pinParams,
  response: noBody,
  statuses: [204],
  handle: async (dependencies, { caller, params }) => {
    await deletePin(dependencies, { caller, ...params });
    return noContent;
  },
});
