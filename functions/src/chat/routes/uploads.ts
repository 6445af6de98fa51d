import { createUpload, readUpload } from '../features/uploads.ts';
import { json, userRoute } from '../route.ts';
import {
  createUploadBody,
  createUploadResponse,
  uploadParams,
  uploadResponse,
  uploadView,
} from '#shared/wire/resources/uploads.ts';

export const createUploadRoute = userRoute({
  operation: 'createUpload',
  summary:
    'Begins an upload: PUT the bytes to `url` with `headers` before `expireTime`, then name `uploadId` in a message.',
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
  summary:
    'An upload of the caller, and an address that its bytes can be read from for some minutes.',
  params: uploadParams,
  response: uploadResponse,
  errors: ['UPLOADS_OFF', 'FILES_UNAVAILABLE'],
  handle: async (dependencies, { caller, params }) => {
    const { upload, request } = await readUpload(dependencies, { caller, ...params });
    return json(uploadView(upload, request));
  },
});
