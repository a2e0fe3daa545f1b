/** Studio's entry: the cache, the routes, one root. */
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { cache } from "./api/cache.ts";
import { router } from "./routes.tsx";
import { applyTheme } from "./theme/theme.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/form.css";
import "./styles/pages.css";

applyTheme();
const root = document.querySelector("#root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={cache}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
