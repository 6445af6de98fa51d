/** The bare id of a model: `models/x`, `publishers/google/models/x` and `x` are all `x`. */
export function modelName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).toLowerCase();
}
