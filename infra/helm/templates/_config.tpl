{{/* The gateway's own configuration: what the chart sets, over what the values say. Secrets are references. */}}

{{- define "gateway.fleetSecretRefs" -}}
{{- $refs := list (dict "secretRef" "env:GATEWAY_FLEET_SECRET") -}}
{{- if .Values.fleetSecret.previousKey -}}
{{- $refs = append $refs (dict "secretRef" "env:GATEWAY_FLEET_SECRET_PREVIOUS") -}}
{{- end -}}
{{- toJson $refs -}}
{{- end }}

{{- define "gateway.controlConfig" -}}
{{- $gateway := deepCopy .Values.control.gateway -}}
{{- $admin := default dict $gateway.adminApi -}}
{{- $names := concat (fromJsonArray (include "gateway.controlNames" .)) (default list $admin.allowedHosts) -}}
{{- $tls := dict "certFile" "/etc/gateway/tls/tls.crt" "keyFile" "/etc/gateway/tls/tls.key" -}}
{{- $admin = merge (dict "host" "0.0.0.0" "port" 9000 "tls" $tls "allowedHosts" (uniq $names)) $admin -}}
{{- $keys := list (dict "secretRef" "env:GATEWAY_ENCRYPTION_KEY") -}}
{{- if .Values.control.encryptionKey.previousKey -}}
{{- $keys = append $keys (dict "secretRef" "env:GATEWAY_ENCRYPTION_KEY_PREVIOUS") -}}
{{- end -}}
{{- $persistence := dict "type" "postgres" "url" (dict "secretRef" "env:GATEWAY_DATABASE_URL") "encryptionKey" $keys "autoMigrate" .Values.control.autoMigrate -}}
{{- $workerApi := merge (dict "sharedSecret" (fromJsonArray (include "gateway.fleetSecretRefs" .))) (default dict $gateway.workerApi) -}}
{{- $own := dict "role" "controlPlane" "adminApi" $admin "persistence" $persistence "workerApi" $workerApi "stateDir" "/var/lib/gateway" -}}
{{- toYaml (merge (dict "gateway" (merge $own $gateway)) (deepCopy .Values.control.objects)) -}}
{{- end }}

{{- define "gateway.workerConfig" -}}
{{- $name := include "gateway.name" . -}}
{{- $url := .Values.worker.controlUrl | default (printf "https://%s-control:9000" $name) -}}
{{- $peers := dict "address" (printf "%s-peers:9000" $name) "scheme" "http" -}}
{{- $control := dict "url" $url "auth" (dict "mode" "sharedSecret" "sharedSecret" (fromJsonArray (include "gateway.fleetSecretRefs" .))) "peerBootstrap" $peers -}}
{{- with .Values.tls.caKey -}}
{{- $_ := set $control "caFile" (printf "/etc/gateway/tls/%s" .) -}}
{{- end -}}
{{- $frontends := dict -}}
{{- range $kind, $settings := .Values.worker.frontends -}}
{{- $tls := dict "certFile" "/etc/gateway/tls/tls.crt" "keyFile" "/etc/gateway/tls/tls.key" -}}
{{- $_ := set $frontends $kind (merge (dict "tls" (merge $tls (default dict $settings.tls))) (deepCopy $settings)) -}}
{{- end -}}
{{/* Nothing secret crosses this listener: a copy for a peer is sealed, and whoever asks proves the fleet secret. */}}
{{- $admin := dict "host" "0.0.0.0" "port" 9000 "allowCleartext" true -}}
{{- $own := dict "role" "worker" "adminApi" $admin "controlPlane" $control "relay" (dict "port" 9001) "frontends" $frontends "stateDir" "/var/lib/gateway" -}}
{{- toYaml (dict "gateway" (merge $own (deepCopy .Values.worker.gateway))) -}}
{{- end }}
