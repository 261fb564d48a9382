export const VIEWS: Record<string, string>;
