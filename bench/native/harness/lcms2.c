// Reads all tags of a colour profile and turns a few pixels into another colour space with it.
#include <lcms2.h>
#include <stddef.h>
#include <stdint.h>

static void transform(cmsHPROFILE from, cmsUInt32Number intent) {
	cmsUInt32Number channels = cmsChannelsOf(cmsGetColorSpace(from));
	cmsHPROFILE to = cmsCreate_sRGBProfile();
	cmsHTRANSFORM t = cmsCreateTransform(from, COLORSPACE_SH(PT_ANY) | CHANNELS_SH(channels) | BYTES_SH(1), to, TYPE_RGB_8, intent,
	                                     cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE);
	if (t) {
		uint8_t in[4 * 16], out[4 * 3];
		for (size_t i = 0; i < sizeof in; i++) in[i] = (uint8_t)(i * 37);
		cmsDoTransform(t, in, out, 4);
		cmsDeleteTransform(t);
	}
	cmsCloseProfile(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	cmsHPROFILE p = cmsOpenProfileFromMem(data, (cmsUInt32Number)size);
	if (!p) return 0;
	cmsInt32Number n = cmsGetTagCount(p);
	for (cmsInt32Number i = 0; i < n; i++) cmsReadTag(p, cmsGetTagSignature(p, (cmsUInt32Number)i));
	char text[256];
	cmsGetProfileInfoASCII(p, cmsInfoDescription, "en", "US", text, sizeof text);
	cmsUInt32Number channels = cmsChannelsOf(cmsGetColorSpace(p));
	if (channels > 0 && channels <= 15) transform(p, cmsGetHeaderRenderingIntent(p) & 3);
	cmsCloseProfile(p);
	return 0;
}
