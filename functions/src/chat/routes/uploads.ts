import { z } from 'zod';
import { noQuery } from '#shared/wire/queries.ts';
import {
  createUploadBody,
  createUploadResponse,
  uploadParams,
  uploadResponse,
  uploadView,
} from '#shared/wire/resources/uploads.ts';
import { noBody, userRoute } from '../route.ts';
import { createUpload } from '../features/uploads/create-upload.ts';
import { readUpload } from '../features/uploads/read-uploads.ts';

export const createUploadRoute = userRoute({
  operation: 'createUpload',
  method: 'POST',
  path: '/v1/uploads',
  summary:
    'Begins an upload: PUT the bytes to `url` with `headers` before `expireTime`, then name `uploadId` in a message.',
  params: z.strictObject({}),
  query: noQuery,
  body: createUploadBody,
  response: createUploadResponse,
  statuses: [201],
  errors: ['UPLOADS_OFF', 'USER_DAILY_UPLOADS', 'FILES_UNAVAILABLE'],
  example: { mimeType: 'image/jpeg', sizeBytes: 240_123, name: 'receipt.jpg' },
  handle: async (dependencies, { caller, body }) => {
    const { upload, request } = await createUpload(dependencies, { caller, ...body });
    const { method, headers } = request;
    const view = { ...uploadView(upload, request), method, headers };
    return { kind: 'json', status: 201, body: view };
  },
});

export const getUploadRoute = userRoute({
  operation: 'getUpload',
  method: 'GET',
  path: '/v1/uploads/{uploadId}',
  summary:
    'An upload of the caller, and an address that its bytes can be read from for some minutes.',
  params: uploadParams,
  query: noQuery,
  body: noBody,
  response: uploadResponse,
  statuses: [200],
  errors: ['UPLOADS_OFF', 'FILES_UNAVAILABLE'],
  handle: async (dependencies, { caller, params }) => {
    const { upload, request } = await readUpload(dependencies, { caller, ...params });
    return { kind: 'json', body: uploadView(upload, request) };
  },
});
